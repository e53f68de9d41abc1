"""The inside of `viewer.ik` that tests use."""

from viewer.choices import BACKENDS, METHOD_NAMES, Backend, MethodName, RootMode
from viewer.ik import algebra, arm_steps, backends, levenberg_marquardt, numpy_engine as engine, runs, solver
from viewer.ik.assemble import (
    Assembly,
    assemble,
    balanced_weights,
    dof_table_of,
    groups_of,
    joint_tables,
    lengths_above,
    unit_near,
)
from viewer.ik.backends import engine_for, serving, twins
from viewer.ik.buffers import Buffers, Targets, arrays_in, entries_of, in_block, make_call, remade
from viewer.ik.compiled import numba_engine as compiled_engine
from viewer.ik.compiled.entry import measure_pose, needs_projection, take_targets
from viewer.ik.contact import volumes as touching
from viewer.ik.contact.values import distance_grid
from viewer.ik.contact.volumes import Near, Volumes, make_near, make_volumes
from viewer.ik.drag import Drag, ReturnPath, prebent
from viewer.ik.findings import Cause, Reason, degrees, listed, metres, together
from viewer.ik.goals import CODES, KINDS, NUMBERS, PIN_WEIGHT, Number, Unit, Value, goal_ids
from viewer.ik.goals.balance_goal import find_support
from viewer.ik.goals.kind import Kind, Measure, Rows, Shell, nearest_in_shell
from viewer.ik.goals.pole import swivel_circle
from viewer.ik.goals.pose_goal import holds
from viewer.ik.kernels import contact_rows, contact_rows as contact_kernels, dual_system, joints, starts, step
from viewer.ik.kernels.joints import into_limits
from viewer.ik.levels import count_levels, descend, descending
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, DIVERGED, STALLED, UNREACHABLE
from viewer.ik.methods import DEFAULT_METHOD, EVERY_METHOD, METHODS, Tuning, UserRows
from viewer.ik.methods.common import Problem
from viewer.ik.methods.jacobian_methods import dls_settings, least_squares_step, optimal_step, selectively_damped_step
from viewer.ik.methods.limb import elbow_angles, find_limb, two_link_algebraic, two_link_geometric
from viewer.ik.methods.mechanism import (
    UNTURNED,
    Mechanism,
    best_angle,
    best_turn,
    cost,
    length,
    quaternion,
    rotate,
    scaled,
    shortest_turn,
    unit,
    vector,
)
from viewer.ik.mobility import LEAST, MOST, REFERENCE, metric, principal, spreads
from viewer.ik.numpy_engine import linearise, residuals as engine_residuals, solve_dual
from viewer.ik.numpy_kinematics import (
    cross,
    difference,
    exponential,
    joints_of,
    kept,
    logarithm,
    matrices,
    move,
    multiply_columns as multiply,
    places,
    residuals,
    rows_of,
    since,
    tree_of,
)
from viewer.ik.prepared import KindProjection
from viewer.ik.reach import Gap, Miss, Reach
from viewer.ik.solver_options import ONE_SHOT, Options, keywords_of, seeds_for
from viewer.ik.system import Settings, State, System, Work, copy_state, make_many, make_state, make_work
from viewer.spatial.closest import capsule_to_ball, capsule_to_box, capsule_to_capsule, capsule_to_grid

AIM, DISTANCE, ROTATION = CODES["aim"], CODES["distance"], CODES["rotation"]
