"""Centre of mass, support polygon and margin of a pose; how the view shows and words them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.spatial import conjugate, from_axis_angle, multiply

import viewer
from viewer.scene import Camera, Display, Footprint, Mark, Scene, Text, balance_of, balance_words, draw_list
from viewer.skeleton import Balance, Builder, Pose, Skeleton, center_of_mass, find_balance

HUMAN = {"head": 0.0694, "trunk": 0.4346, "upper arm": 0.0271, "forearm": 0.0162, "hand": 0.0061,
         "thigh": 0.1416, "shank": 0.0433, "foot": 0.0137}  # fmt: skip

CAMERA = Camera(np.array((0.0, 1.0, 0.0)), distance=4.0)


def sample(name: str) -> Skeleton:
    return viewer.load(f"sample:{name}").skeleton


def stands(skeleton: Skeleton, pose: Pose | None = None, floor: float = 0.0, fixed: tuple[int, ...] = ()) -> Balance:
    return find_balance(skeleton, viewer.fk(skeleton, pose or skeleton.rest_pose()), floor, fixed)


def moved(skeleton: Skeleton, way: tuple[float, float, float]) -> Pose:
    pose = skeleton.rest_pose()
    shifts = np.array(pose.translations)
    shifts[skeleton.roots] += way
    return Pose(pose.rotations, shifts)


def test_the_fractions_of_a_body_add_up_to_one() -> None:
    single = HUMAN["head"] + HUMAN["trunk"]
    double = sum(HUMAN.values()) - single
    assert single + 2.0 * double == pytest.approx(1.0, abs=1e-3)


def test_a_human_figure_has_its_centre_of_mass_where_anatomy_puts_it() -> None:
    skeleton = sample("biped")
    world = viewer.fk(skeleton, skeleton.rest_pose())
    center = center_of_mass(skeleton, world)
    height = world.positions[:, 1].max() - world.positions[:, 1].min()
    # 55 to 57 % of the height in a person who stands with arms down (Virmavirta and Isolehto 2014); arms out: higher.
    assert 0.53 < center[1] / height < 0.66
    assert center[0] == pytest.approx(0.0, abs=1e-3)


def test_a_raised_arm_lifts_the_centre_by_the_arms_part_of_the_mass() -> None:
    skeleton = sample("biped")
    relaxed = skeleton.relaxed_pose()
    before = viewer.fk(skeleton, relaxed)
    rotations = np.array(relaxed.rotations)
    arm = skeleton.index("LeftArm")
    rotations[arm] = skeleton.rest_rotations[arm]
    after = viewer.fk(skeleton, Pose(rotations, relaxed.translations))
    joints = [skeleton.index(name) for name in ("LeftArm", "LeftForeArm", "LeftHand")]
    (u0, e0, w0), (u1, e1, w1) = before.positions[joints], after.positions[joints]
    rise = center_of_mass(skeleton, after) - center_of_mass(skeleton, before)
    hand = np.linalg.norm(skeleton.tip_offsets[skeleton.tip_parents == joints[2]], axis=1).max(initial=0.0)
    by_hand = (
        0.0271 * 0.5772 * (e1 - e0) + 0.0162 * ((1 - 0.4574) * (e1 - e0) + 0.4574 * (w1 - w0)) + 0.0061 * (w1 - w0)
    )
    assert np.allclose(u0, u1)
    assert np.abs(rise - by_hand).max() < 0.0061 * 2.0 * max(hand, 0.2)


@pytest.mark.parametrize("name", ["biped", "biped-hands", "quadruped", "raptor", "serpent", "claw-arm", "chain-7"])
def test_the_centre_moves_and_turns_with_the_body(name: str) -> None:
    skeleton = sample(name)
    pose = skeleton.rest_pose()
    there = moved(skeleton, (0.3, -0.2, 1.1))
    a, b = (center_of_mass(skeleton, viewer.fk(skeleton, one)) for one in (pose, there))
    assert np.allclose(b - a, (0.3, -0.2, 1.1), atol=1e-12)
    points = np.concatenate([viewer.fk(skeleton, pose).positions, skeleton.tip_offsets * 0.0 + a])
    assert (points.min(axis=0) - 1e-9 <= a).all()
    assert (a <= points.max(axis=0) + 1e-9).all()


def test_many_poses_are_measured_at_once() -> None:
    skeleton = sample("biped")
    clip = viewer.Clip.from_arrays(
        skeleton, np.array([skeleton.rest_pose().rotations, skeleton.relaxed_pose().rotations])
    )
    both = center_of_mass(skeleton, viewer.fk_clip(skeleton, clip))
    each = [center_of_mass(skeleton, viewer.fk(skeleton, clip.pose(k))) for k in range(2)]
    assert both.shape == (2, 3)
    assert np.allclose(both, each, atol=1e-12)


def test_a_single_bone_has_its_centre_in_its_middle() -> None:
    skeleton = Builder().add("a").add("b", "a", (0.0, 2.0, 0.0)).skeleton
    assert np.allclose(center_of_mass(skeleton, viewer.fk(skeleton, skeleton.rest_pose())), (0.0, 1.0, 0.0))


def test_longer_bones_weigh_by_the_cube_of_their_length() -> None:
    skeleton = Builder().add("a").add("b", "a", (0.0, 1.0, 0.0)).add("c", "a", (2.0, 0.0, 0.0)).skeleton
    center = center_of_mass(skeleton, viewer.fk(skeleton, skeleton.rest_pose()))
    assert np.allclose(center, (8.0 / 9.0, 0.5 / 9.0, 0.0))


def test_one_joint_alone_is_its_own_centre() -> None:
    skeleton = Builder().add("a").skeleton
    found = stands(skeleton, moved(skeleton, (1.0, 0.0, 2.0)))
    assert np.allclose(found.center, (1.0, 0.0, 2.0))
    assert (len(found.support), found.margin) == (1, 0.0)


def test_the_biped_stands_on_both_feet() -> None:
    skeleton = sample("biped")
    found = stands(skeleton)
    assert 0.02 < found.margin < 0.08
    assert found.side == "back"
    assert found.support[:, 1] == pytest.approx(0.0)
    left, right = (
        viewer.fk(skeleton, skeleton.rest_pose()).positions[skeleton.index(f"{s}Foot")] for s in ("Left", "Right")
    )
    low, high = found.support.min(axis=0), found.support.max(axis=0)
    assert low[0] < right[0] < left[0] < high[0]
    assert low[2] < left[2] < high[2]


def test_a_figure_in_the_air_has_no_support() -> None:
    skeleton = sample("biped")
    found = stands(skeleton, moved(skeleton, (0.0, 0.5, 0.0)))
    assert len(found.support) == 0
    assert np.isnan(found.margin)
    assert balance_words(found) == "Nothing stands on the floor"


def test_what_is_fixed_supports_at_any_height() -> None:
    skeleton = sample("biped")
    pose = moved(skeleton, (0.0, 0.5, 0.0))
    feet = tuple(skeleton.index(name) for name in ("LeftFoot", "RightFoot"))
    assert stands(skeleton, pose, fixed=feet).margin == pytest.approx(stands(skeleton).margin, abs=1e-9)
    one = stands(skeleton, pose, fixed=feet[:1])
    assert one.margin < 0.0
    assert one.side == "right"


def test_the_floor_may_be_at_any_height() -> None:
    skeleton = sample("biped")
    found = stands(skeleton, moved(skeleton, (0.0, -3.0, 0.0)), floor=-3.0)
    assert found.margin == pytest.approx(stands(skeleton).margin, abs=1e-9)
    assert found.support[:, 1] == pytest.approx(-3.0)


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0, -2.5])
def test_sides_are_those_of_the_figure_wherever_it_faces(turn: float) -> None:
    skeleton = sample("biped")
    pose = skeleton.rest_pose()
    rotations = np.array(pose.rotations)
    rotations[0] = (0.0, np.sin(turn / 2), 0.0, np.cos(turn / 2))
    found = stands(skeleton, Pose(rotations, pose.translations))
    assert found.side == "back"
    assert found.margin == pytest.approx(stands(skeleton).margin, abs=1e-6)


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0, -2.5])
@pytest.mark.parametrize("bend", [30.0, 100.0, 150.0])
def test_a_figure_that_is_bent_over_falls_forward(turn: float, bend: float) -> None:
    """Its legs lean forward with the hips far in front of the feet, its trunk is bent as far as its face looks back."""
    skeleton = sample("biped")
    pose = skeleton.rest_pose()
    about_x, about_y = np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
    over, lean = (from_axis_angle(about_x, np.radians(angle)) for angle in (bend, 40.0))
    rotations = np.array(pose.rotations)
    rotations[0] = multiply(from_axis_angle(about_y, turn), multiply(over, rotations[0]))
    for leg in (skeleton.index("LeftUpLeg"), skeleton.index("RightUpLeg")):
        rotations[leg] = multiply(conjugate(over), multiply(lean, rotations[leg]))
    feet = tuple(skeleton.index(name) for name in ("LeftFoot", "RightFoot"))
    found = stands(skeleton, Pose(rotations, pose.translations), fixed=feet, floor=-9.0)
    assert found.margin < -0.2
    assert found.side == "forward"


def test_the_margin_is_the_distance_to_the_edge() -> None:
    """Against a dense sampling of the polygon's edges, for random sets of end points."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        builder = Builder().add("root")
        for i in range(int(rng.integers(3, 8))):
            builder = builder.add(f"leg{i}", "root", (*rng.uniform(-1, 1, 1), -1.0, *rng.uniform(-1, 1, 1)))
        skeleton = builder.skeleton
        found = stands(skeleton, floor=-1.0)
        corners, after = found.support, np.roll(found.support, -1, axis=0)
        edge = (corners[:, None] + np.linspace(0, 1, 4001)[:, None] * (after - corners)[:, None]).reshape(-1, 3)
        nearest = np.linalg.norm((edge - found.center)[:, [0, 2]], axis=1).min()
        assert abs(found.margin) == pytest.approx(nearest, abs=2e-4)
        # Every leg's end is in the hull, whose corners are ends of legs and turn one way.
        ends = viewer.fk(skeleton, skeleton.rest_pose()).positions[1:]
        assert {tuple(c) for c in corners.round(9)} <= {tuple(e) for e in ends.round(9)}
        if len(corners) > 2:
            turns = np.cross(after - corners, np.roll(after, -1, axis=0) - after)[:, 1]
            assert (turns > 0.0).all()
            inside = np.cross(after - corners, found.center - corners)[:, 1]
            assert (found.margin >= 0.0) == bool((inside >= 0.0).all())


@pytest.mark.parametrize(
    ("margin", "side", "words"),
    [
        (0.134, "back", "balanced, 13 cm to spare"),
        (0.004, "back", "balanced, 4 mm to spare"),
        (-0.03, "back", "falls back by 3 cm"),
        (-0.31, "forward", "falls forward by 31 cm"),
        (-0.05, "left", "falls to its left by 5 cm"),
        (-0.0004, "", "falls by 0 mm"),
    ],
)
def test_words(margin: float, side: str, words: str) -> None:
    assert balance_words(Balance(np.zeros(3), np.zeros((3, 3)), margin, side)) == words


def scene_of(pose: Pose | None = None, marks: tuple[Mark, ...] = (), *, shown: bool = True) -> Scene:
    skeleton = sample("biped")
    world = viewer.fk(skeleton, pose or skeleton.rest_pose())
    return Scene(skeleton, world, marks, display=Display(balance=shown))


def test_the_view_shows_the_polygon_the_plumb_line_and_the_disc() -> None:
    projection = CAMERA.projection((800, 600))
    plain, shown = (draw_list(scene_of(shown=one), projection) for one in (False, True))
    corners = len(balance_of(scene_of()).support)
    assert len(shown.lines) - len(plain.lines) == 1 + corners
    assert len(shown.triangles) - len(plain.triangles) == 3 * (corners - 2)
    assert len(shown.flat) > len(plain.flat)
    assert shown.texts == plain.texts


def test_what_is_written_over_all_else_is_written_once_with_the_balance_and_footprints_too() -> None:
    feet = (Footprint(np.zeros(3), np.array((0.0, 0.0, 0.1)), 0.0, "left", now=True, planted=False, slides_cm=3.0),)
    scene, readout = replace(scene_of(), footprints=feet), Text("ΔZ 0.124 m", 40.0, 30.0, (1.0, 1.0, 1.0, 1.0))
    texts = draw_list(scene, CAMERA.projection((800, 600)), words=(readout,)).texts
    assert texts[-1] is readout
    assert [text.text for text in texts].count("slides 3.0 cm") == 1


def test_a_fall_is_hatched_and_said() -> None:
    skeleton = sample("biped")
    pose = moved(skeleton, (0.0, 0.5, 0.0))
    marks = (Mark("LeftFoot", skeleton.index("LeftFoot"), np.zeros(3), pin_position=True),)
    drawn = draw_list(scene_of(pose, marks), CAMERA.projection((800, 600)))
    words = [text.text for text in drawn.texts]
    assert len([word for word in words if word.startswith("falls to its right by ")]) == 1
    assert len(drawn.lines) > 1 + len(balance_of(scene_of(pose, marks)).support)


def test_an_animal_stands_on_its_feet_and_not_on_raised_claws() -> None:
    raptor = sample("raptor")
    found = stands(raptor, raptor.relaxed_pose())
    world = viewer.fk(raptor, raptor.relaxed_pose())
    toes = [raptor.index(f"{side}{toe}Toe1") for side in ("Left", "Right") for toe in ("Middle", "Outer")]
    tips = [world.point(j, raptor.tip_offsets[raptor.tip_parents.tolist().index(j)]) for j in (21, 23)]
    assert found.support[:, 2].min() <= world.positions[toes, 2].min() + 1e-9  # from behind the toes' roots
    assert found.support[:, 2].max() == pytest.approx(max(tip[2] for tip in tips), abs=1e-9)  # to their tips
    sickle = raptor.index("LeftInnerToe2")
    raised = world.point(sickle, raptor.tip_offsets[raptor.tip_parents.tolist().index(sickle)])
    assert 0.0 < raised[1] < 0.03
    assert np.linalg.norm(found.support[:, [0, 2]] - raised[[0, 2]], axis=1).min() > 0.01


def test_while_feet_stay_the_margin_moves_no_faster_than_the_body() -> None:
    raptor = sample("raptor")
    start = raptor.relaxed_pose()
    world = viewer.fk(raptor, start)
    feet = [raptor.index(name) for name in ("LeftFoot", "RightFoot")]
    pins = [viewer.Goal.pin("LeftFoot"), viewer.Goal.pin("RightFoot")]
    drag = viewer.Solver(raptor, [*pins, viewer.Goal.position("Head", world.positions[raptor.index("Head")])]).drag(
        start
    )
    targets, before = np.full((3, 3), np.nan), None
    for k in range(240):
        way = 0.3 * np.sin(k / 40), -0.3 * (1.0 - np.cos(k / 40)), 0.3 * np.sin(k / 25)
        targets[2] = world.positions[raptor.index("Head")] + way
        found = stands(raptor, drag.move(targets).pose, fixed=tuple(feet))
        if before is not None:
            went = float(np.linalg.norm(found.center - before.center))
            assert abs(found.margin - before.margin) <= went + 2e-3
        before = found
