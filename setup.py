"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import sys

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

TEXT = ("loops", "arrays", "text_utf8", "vocabulary", "text", "pairs", "words", "word_scores")
HEADERS = {
    **dict.fromkeys(("labels", "counts", "score", "hashes"), ("loops",)),
    "numbers": ("loops", "moments"),
    **dict.fromkeys(("vocabulary", "text", "pairs", "words", "word_scores"), TEXT),
    "strings": ("loops", "arrays", "vocabulary", "string_codes"),
    "words_without": ("loops", "words_without"),
    "rows_without": ("loops", "rows_without"),
}
"""The kernels, and the headers that they are built from."""

# No -march: one build runs on every CPU, and loops.h picks AVX2 at run time. No -ffast-math and
# no contraction to fma: double-double sums need every operation rounded exactly as written.
# That nobody reads the floating-point traps or errno changes no result, and lets masks vectorise.
FLAGS = (
    ["/O2", "/std:c11"]
    if sys.platform == "win32"
    else ["-O3", "-g0", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
)
CORES = os.cpu_count() or 1

# `make fuzz` asks for the kernels of text alone, watched by sanitizers.
SANITIZE = (
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    if os.environ.get("PRIORY_SANITIZE")
    else []
)
if SANITIZE:
    FLAGS = ["-O1", "-g", "-fno-omit-frame-pointer", *FLAGS[2:]]
    HEADERS = {name: headers for name, headers in HEADERS.items() if headers is TEXT}

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"priory.kernels.{name}",
                [f"src/priory/kernels/{name}.pyx"],
                depends=[f"src/priory/kernels/{header}.h" for header in headers],
                include_dirs=["src/priory/kernels", numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                extra_compile_args=[*FLAGS, *SANITIZE],
                extra_link_args=SANITIZE,
            )
            for name, headers in HEADERS.items()
        ],
        build_dir="build/cython",
        include_path=["src"],
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
        nthreads=CORES if sys.platform == "linux" else 0,  # others would run this file again
    ),
    options={"build_ext": {"parallel": CORES}},
)
