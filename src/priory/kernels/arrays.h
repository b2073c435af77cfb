/* Arrays that grow. Small ones are malloc's; large ones have pages of their own, which are the
 * system's again once they are freed, where malloc may put that off. Very large ones have large pages,
 * if there are any: finding one of many small pages takes as long as fetching from it. Pages that
 * nobody touches take no memory. */
#ifndef PRIORY_ARRAYS_H
#define PRIORY_ARRAYS_H

#include "clones.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LARGE_PAGE ((size_t)2 << 20)
#define LARGE_ARRAY ((size_t)1 << 20) /* from so many bytes on, an array has its own pages */

#if defined(__linux__)
/* Return how many bytes the pages of an array have, or 0 if it has none. */
static inline size_t array_pages(int64_t room, size_t size)
{
    size_t bytes = (size_t)room * size;
    return bytes < LARGE_ARRAY ? 0 : (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

/* Return pages, all zero, with what `array` has if it has pages itself: it is gone then. */
static void *take_pages(void *array, size_t before, size_t bytes)
{
    void *pages = before ? mremap(array, before, bytes, MREMAP_MAYMOVE)
                         : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (bytes > LARGE_PAGE)
        madvise(pages, bytes, MADV_HUGEPAGE);
#endif
    return pages;
}
#else
static inline size_t array_pages(int64_t room, size_t size)
{
    (void)room, (void)size;
    return 0;
}

static void *take_pages(void *array, size_t before, size_t bytes)
{
    (void)array, (void)before, (void)bytes;
    return NULL;
}
#endif

PRIORY_UNUSED static void free_array(void *array, int64_t room, size_t size)
{
#if defined(__linux__)
    if (array_pages(room, size)) {
        munmap(array, array_pages(room, size));
        return;
    }
#endif
    free(array);
}

/* Let the system have the memory of an array if it lacks some: then all its elements become zero, else
 * they stay as they are. */
PRIORY_UNUSED static void lend_array(void *array, int64_t room, size_t size)
{
#if defined(__linux__) && defined(MADV_FREE)
    if (array_pages(room, size))
        madvise(array, array_pages(room, size), MADV_FREE);
#else
    (void)array, (void)room, (void)size;
#endif
}

/* Return an array of zeros, or NULL. */
PRIORY_UNUSED static void *zeros(int64_t room, size_t size)
{
    size_t pages = array_pages(room, size);
    return pages ? take_pages(NULL, 0, pages) : calloc((size_t)room, size);
}

static int grow(void **array, int64_t *room, int64_t needed, size_t size, int zeroed)
{
    int64_t wider = needed + needed / 2 + 64;
    size_t before = array_pages(*room, size), pages = array_pages(wider, size);
    void *grown = pages ? take_pages(*array, before, pages) : realloc(*array, (size_t)wider * size);
    if (grown == NULL)
        return -1;
    if (pages && !before && *array != NULL) {
        memcpy(grown, *array, (size_t)*room * size);
        free(*array);
    }
    if (zeroed && !pages)
        memset((char *)grown + (size_t)*room * size, 0, (size_t)(wider - *room) * size);
    *array = grown;
    *room = pages ? (int64_t)(pages / size) : wider;
    return 0;
}

/* Make room for `needed` elements of `size` bytes, half as many again; −1: there is no memory. */
static inline int grow_array(void **array, int64_t *room, int64_t needed, size_t size)
{
    return needed <= *room ? 0 : grow(array, room, needed, size, 0);
}

/* The same, where elements that were never written are zero. */
static inline int grow_zeros(void **array, int64_t *room, int64_t needed, size_t size)
{
    return needed <= *room ? 0 : grow(array, room, needed, size, 1);
}

#endif
