from priory.base.typing import CodeArray, FloatArray

def shared_without(
    a: CodeArray,
    b: CodeArray,
    n_a: int,
    n_b: int,
    place: CodeArray,
    weight: FloatArray,
    n_folds: int,
    n_classes: int,
) -> FloatArray: ...
def left_over(
    a: CodeArray,
    b: CodeArray,
    n_a: int,
    n_b: int,
    slope: FloatArray,
    bend: FloatArray,
    held: float,
) -> tuple[float, float]: ...
