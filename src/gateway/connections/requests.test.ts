import { expect, test } from "vitest";
import { REQUEST_BURST, type Client } from "./connection.ts";
import { takeCredit } from "./requests.ts";

test("a flood of requests has to wait, and is accepted again as time passes", () => {
  const client = { credit: REQUEST_BURST, creditAt: 0 } as Client;
  const answers = Array.from({ length: REQUEST_BURST + 1 }, () => takeCredit(client, 0));
  expect(answers.slice(0, -1).every((wait) => wait === 0)).toBe(true);
  expect(answers.at(-1)).toBeGreaterThan(0);
  expect(takeCredit(client, 1)).toBe(0);
});
