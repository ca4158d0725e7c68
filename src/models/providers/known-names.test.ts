import { expect, test } from "vitest";
import { hasUnexplainedNames } from "../../config/index.ts";
import { PROVIDERS } from "./index.ts";

test("every provider, under each of its names, is one that the check of the configuration knows", () => {
  for (const name of PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]))
    expect(hasUnexplainedNames({ auth: { order: { [name]: [] } } }), name).toBe(false);
});
