"""Games: clips cut, slowed, looped and played backwards; a BVH that never touches the disk."""

import numpy as np

import viewer

walk = viewer.load("sample:walk")
clip = walk.clip
assert clip is not None
print(clip)
print("cut      ", clip[10:20])
print("backwards", clip[::-1], "begins with the last pose:", clip[::-1][0].same_as(clip[-1]))
print("at 60 fps", clip.resampled(60))

times = np.mod(np.arange(0, 3.0, 1 / 30), clip.duration - clip.frame_time)
print("looped   ", clip.sample(times))

text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
text += "MOTION\nFrames: 2\nFrame Time: 0.5\n0 0 0\n0 0 90\n"
print("from text", viewer.load(text=text, units="m").clip)
