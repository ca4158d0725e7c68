import { expect, test } from "vitest";
import { offersOf } from "./node-offers.ts";

test("what a node offers is said in words, alike commands once, and what is not known by its name", () => {
  expect(offersOf({ caps: [], commands: ["system.run", "camera.snap", "camera.clip", "coffee.make"] })).toEqual([
    { words: "Run programs on it", commands: ["system.run"] },
    { words: "Take pictures and videos with its cameras", commands: ["camera.snap", "camera.clip"] },
    { words: "Other: coffee.make", commands: [] },
  ]);
});

test("a capability without a command is named, and one with commands is not said twice", () => {
  expect(offersOf({ caps: ["camera", "location"], commands: ["camera.list"] }).map(({ words }) => words)).toEqual(["List its cameras", "Tell where it is"]);
  expect(offersOf({ caps: [], commands: [] })).toEqual([]);
});
