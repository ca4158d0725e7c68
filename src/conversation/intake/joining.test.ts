import { expect, test } from "vitest";
import { createOrder, type OrderedWork } from "./joining.ts";

/** Work that ends on request, and records when it began. */
function lab() {
  const order = createOrder();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const long = new Map<string, () => void>();
  const work = (name: string, isQuick = false): OrderedWork => ({
    isQuick,
    run(tookLong) {
      begun.push(name);
      long.set(name, tookLong);
      return new Promise((resolve) => ends.set(name, resolve));
    },
  });
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await new Promise(setImmediate);
  };
  return { order, begun, work, end, takesLong: (name: string) => long.get(name)!() };
}

test("work under one name goes in its order, under another at once", async () => {
  const { order, begun, work, end } = lab();
  order.add("a", work("1"));
  order.add("a", work("2"));
  order.add("a", work("quick", true));
  order.add("b", work("3"));
  expect(begun).toEqual(["1", "3"]);
  await end("1");
  await end("2");
  expect(begun).toEqual(["1", "3", "2", "quick"]);
  for (const name of ["3", "quick"]) await end(name);
  await order.idle();
});

test("quick work that waits overtakes as soon as the first takes long, and so does what comes later; the rest waits", async () => {
  const { order, begun, work, end, takesLong } = lab();
  order.add("a", work("slow"));
  order.add("a", work("next"));
  order.add("a", work("quick 1", true));
  takesLong("slow");
  order.add("a", work("quick 2", true));
  expect(begun).toEqual(["slow", "quick 1", "quick 2"]);
  await end("slow");
  expect(begun.at(-1)).toBe("next");
  order.add("a", work("quick 3", true));
  expect(begun.at(-1)).toBe("next");
  await end("next");
  for (const name of ["quick 1", "quick 2"]) await end(name);
  let isIdle = false;
  const idle = order.idle().then(() => (isIdle = true));
  await new Promise(setImmediate);
  expect(isIdle).toBe(false);
  await end("quick 3");
  await idle;
});

test("work that says it takes long after its end changes nothing", async () => {
  const { order, begun, work, end, takesLong } = lab();
  order.add("a", work("1"));
  order.add("a", work("2"));
  await end("1");
  takesLong("1");
  order.add("a", work("quick", true));
  expect(begun).toEqual(["1", "2"]);
});
