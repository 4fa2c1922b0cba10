"""Configurations."""

import unittest

from common import InFolder, wave_sim

import wave_sim as ws


class Configurations(InFolder):
    def test_presets(self):
        names = ws.Config.presets()
        self.assertEqual(names[0], "gpu")
        for name in names:
            config = ws.Config.load(name)
            self.assertEqual(config.name, name)
            self.assertEqual(config, ws.Config.load(f"{name}.ron"))

    def test_a_value_that_does_not_change(self):
        gpu = ws.Config.load("gpu.ron")
        other = gpu.set({"core.l1.bytes": "64KiB", "core.issue.policy": "lrr"}, cores=8)
        self.assertEqual(gpu, ws.Config.load())
        self.assertNotEqual(gpu, other)
        self.assertEqual((other.get("core.l1.bytes"), other.get("cores")), (65536, 8))
        self.assertEqual(other.get("core.issue.policy"), "lrr")
        self.assertIs(other.get("capabilities.f64"), True)
        # As the program has it.
        words = ["--set", "core.l1.bytes=64KiB", "--set", "core.issue.policy=lrr", "--set", "cores=8"]
        _, shown, _ = wave_sim("config", "show", "gpu", *words)
        self.assertEqual(other.text, shown)
        self.assertIn(other.hash, shown)
        self.assertIn(other.hash, repr(other))

    def test_everything_as_a_dictionary(self):
        tree = ws.Config.load("t4").to_dict()
        self.assertEqual(tree["core"]["l1"]["bytes"], ws.Config.load("t4").get("core.l1.bytes"))
        self.assertEqual(tree["core"]["units[fp32]"]["lanes"], 16)
        self.assertEqual(tree["name"], "t4")

    def test_texts_and_files(self):
        text = '(base: "tiny", name: "mine", cores: 1)'
        config = ws.Config.from_text(text)
        self.assertEqual((config.name, config.get("cores")), ("mine", 1))
        self.assertEqual(ws.Config.load(self.write("mine.ron", text)), config)
        # All of it as a text is the same machine.
        again = ws.Config.from_text(config.set(cores=2).text)
        self.assertEqual(again.hash, config.set(cores=2).hash)

    def test_a_memory_part_brings_its_values(self):
        words = ["--set", "cores=4", "--set", "dram.part=lpddr5"]
        _, shown, _ = wave_sim("config", "show", "gpu", *words)
        config = ws.Config.load("gpu").set(cores=4).set({"dram.part": "lpddr5"})
        self.assertEqual(config.text, shown)

    def test_area(self):
        gpu = ws.Config.load()
        area = gpu.area()
        self.assertAlmostEqual(sum(area["blocks"].values()), area["mm2"])
        self.assertLess(gpu.area("7nm")["mm2"], area["mm2"])
        self.assertLess(area["mm2"], gpu.set({"core.l1.bytes": "256KiB"}).area()["mm2"])


if __name__ == "__main__":
    unittest.main()
