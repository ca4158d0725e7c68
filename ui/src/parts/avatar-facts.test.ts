import { expect, test } from "vitest";
import { pictureOf, signOf } from "./avatar-facts.ts";

test("a file of the workspace is asked for at the gateway, a picture in the configuration is shown, other hosts are left alone", () => {
  const of = (avatar?: string): string | undefined => pictureOf({ id: "night watch", avatar });
  expect([
    of("a/b.png"),
    of("b.png"),
    of("data:image/png;base64,AA"),
    of("data:text/html,x"),
    of("https://example.com/a.png"),
    of("🦉"),
    of(" "),
    of(),
  ]).toEqual(["avatar/night%20watch", "avatar/night%20watch", "data:image/png;base64,AA", undefined, undefined, undefined, undefined, undefined]);
});

test("without a picture there is an emoji, or letters", () => {
  const sign = (over: object): string => signOf({ id: "ops", name: "Night watch crew", ...over });
  expect([sign({ avatar: "NW1" }), sign({ emoji: "🦉", avatar: "https://example.com/a.png" }), sign({}), sign({ name: "ünal" }), sign({ name: "" })]).toEqual([
    "NW1",
    "🦉",
    "NW",
    "Ü",
    "O",
  ]);
});
