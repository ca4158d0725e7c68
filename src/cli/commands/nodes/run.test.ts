import { expect, test } from "vitest";
import { adviceFor } from "./run.ts";

const NODE = "abcdef0123456789";

test("who was not answered in time learns how to let the node run the program without asking", () => {
  expect(adviceFor("/usr/bin/uname", NODE)).toContain("openclaw approvals allowlist add /usr/bin/uname --node abcdef012345");
  expect(adviceFor("~/bin/sync", NODE)).toContain("openclaw approvals allowlist add ~/bin/sync --node");
  for (const name of ["uname", "/opt/*", "/tmp/a b; reboot"])
    expect(adviceFor(name, NODE)).toContain("openclaw approvals allowlist add PATH_OF_THE_PROGRAM --node");
});
