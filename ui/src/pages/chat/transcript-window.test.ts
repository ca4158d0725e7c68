import { describe, expect, it } from "vitest";
import { isAtEnd } from "./transcript-place.ts";
import { follow, lastWindow, MOST_SHOWN, moveDown, moveUp } from "./transcript-window.ts";

const keys = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `e${from + at}`);

describe("what is on the page of a long log", () => {
  it("is the newest at first", () => {
    expect(lastWindow(1000)).toEqual({ from: 800, to: 1000 });
    expect(lastWindow(10)).toEqual({ from: 0, to: 10 });
  });

  it("moves up and down by steps and stays bounded", () => {
    let window = lastWindow(1000);
    for (let steps = 0; steps < 20; steps += 1) {
      window = moveUp(window);
      expect(window.to - window.from).toBeLessThanOrEqual(MOST_SHOWN);
    }
    expect(window).toEqual({ from: 0, to: MOST_SHOWN });
    for (let steps = 0; steps < 20; steps += 1) window = moveDown(window, 1000);
    expect(window).toEqual({ from: 800, to: 1000 });
  });

  it("stays with the same items when older ones are put before them", () => {
    const window = { from: 0, to: 150 };
    expect(follow(window, keys(500, 800), keys(300, 800), false)).toEqual({ from: 200, to: 350 });
  });

  it("goes on to the end for who is there, and not for who is not", () => {
    expect(follow({ from: 0, to: 10 }, keys(0, 10), keys(0, 12), true)).toEqual({ from: 0, to: 12 });
    expect(follow({ from: 0, to: 100 }, keys(0, 300), keys(0, 302), false)).toEqual({ from: 0, to: 100 });
    expect(follow({ from: 0, to: 10 }, keys(0, 10), keys(0, 12), false)).toEqual({ from: 0, to: 12 });
  });

  it("begins at the end when nothing of it is left", () => {
    expect(follow({ from: 0, to: 10 }, keys(0, 10), keys(500, 900), false)).toEqual({ from: 200, to: 400 });
  });
});

describe("a reader at the end", () => {
  it("leaves it by scrolling up, however little, and comes back near it", () => {
    expect(isAtEnd(true, -10, 12)).toBe(false);
    expect(isAtEnd(false, 5, 30)).toBe(true);
    expect(isAtEnd(false, 5, 300)).toBe(false);
    expect(isAtEnd(false, -400, 0)).toBe(true);
  });

  it("stays there while the log grows", () => {
    expect(isAtEnd(true, 0, 200)).toBe(true);
  });
});
