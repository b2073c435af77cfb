"""Draw the fourteen days as a nomogram: `python docs/pictures/nomogram.py` writes nomogram.svg."""

from pathlib import Path

from priory import NaiveBayes
from priory.examples import play_tennis

if __name__ == "__main__":
    drawn = NaiveBayes.textbook().fit(*play_tennis()).nomogram()
    drawn.save(Path(__file__).with_suffix(".svg"))
