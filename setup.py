"""Compile the kernels; everything else about the package is in pyproject.toml."""

import sys

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ("labels", "numbers", "counts", "score", "text", "without")

# No -march: one build runs on every CPU, and loops.h picks AVX2 at run time. No -ffast-math and
# no contraction to fma: double-double sums need every operation rounded exactly as written.
# That nobody reads the floating-point traps or errno changes no result, and lets masks vectorise.
FLAGS = (
    ["/O2"]
    if sys.platform == "win32"
    else ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
)

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"priory.kernels.{name}",
                [f"src/priory/kernels/{name}.pyx"],
                depends=["src/priory/kernels/loops.h", "src/priory/kernels/without.h"],
                include_dirs=["src/priory/kernels", numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                extra_compile_args=FLAGS,
            )
            for name in KERNELS
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
    )
)
