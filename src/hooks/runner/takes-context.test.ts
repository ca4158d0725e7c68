import { expect, test } from "vitest";
import { takesContext } from "./takes-context.ts";

type Fields = Record<string, unknown>;

test("an arrow function with one plain parameter cannot see a second argument", () => {
  const handlers: readonly unknown[] = [
    (event: Fields) => event["a"],
    async (event: Fields) => event["a"],
    ({ params, toolName: name }: Fields) => [params, name],
    () => 1,
    async () => {},
  ];
  expect(handlers.map(takesContext)).toEqual(handlers.map(() => false));
});

test("every other function may", () => {
  const handlers: readonly unknown[] = [
    (_: Fields, ctx: Fields) => ctx,
    (_: Fields, ctx: Fields = {}) => ctx,
    (_: Fields, ...rest: unknown[]) => rest,
    (...all: unknown[]) => all,
    ({ a = 1 }: Fields) => a,
    function (event: Fields) {
      return [event, arguments[1]];
    },
    async function (event: Fields) {
      return [event, arguments[1]];
    },
    {
      handler(event: Fields) {
        return [event, arguments[1]];
      },
    }.handler,
    Object.hasOwn.bind(null, {}),
    new Proxy((event: Fields) => event, {}),
  ];
  expect(handlers.map(takesContext)).toEqual(handlers.map(() => true));
});
