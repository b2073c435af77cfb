/* A tile is a block of a matrix, (columns, PRIORY_TILE_ROWS): its rows lie side by side. */
#ifndef PRIORY_TILES_H
#define PRIORY_TILES_H


#define PRIORY_TILE_ROWS 32     /* rows side by side in registers */
#define PRIORY_TILE_COLUMNS 128 /* a tile stays in the first-level cache */

#endif
