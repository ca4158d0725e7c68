import { expect, test } from "vitest";
import { hasUnexplainedNames } from "../../config/index.ts";
import { PROVIDERS } from "./index.ts";

test("configuration validation knows every provider under each of its names", () => {
  for (const name of PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]))
    expect(hasUnexplainedNames({ auth: { order: { [name]: [] } } }), name).toBe(false);
});
