import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { packageFolder, programName, withProgram } from "./program-name.ts";

/** A package as checked out or installed, with a folder on the shell's `PATH`. */
function setup(name = "checkout") {
  const folder = mkdtempSync(join(tmpdir(), "program-name-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, name);
  const [from, bin] = [join(root, "dist"), join(folder, "bin")];
  for (const made of [from, bin, join(root, "bin"), join(folder, "elsewhere")]) mkdirSync(made, { recursive: true });
  writeFileSync(join(root, "bin/openclaw"), "");
  const named = (place: Partial<Parameters<typeof programName>[0]> = {}): string =>
    programName({ from, path: `relative::${bin}:/nowhere`, profile: undefined, cwd: undefined, ...place });
  return { folder, root, bin, from, named };
}

test("a checkout is run as bin/openclaw in its folder, and by its absolute path from elsewhere", () => {
  const { folder, root, named } = setup();
  expect(named({ cwd: root })).toBe("bin/openclaw");
  expect(named({ cwd: join(folder, "elsewhere") })).toBe(`${root}/bin/openclaw`);
  expect(named({ cwd: join(root, "dist") })).toBe(`${root}/bin/openclaw`);
});

test("an installed program is run by its name from every folder", () => {
  const { folder, root, bin, named } = setup("lib/node_modules/openclaw");
  symlinkSync(join(root, "bin/openclaw"), join(bin, "openclaw"));
  expect(named({ cwd: folder })).toBe("openclaw");
  expect(named({ cwd: root })).toBe("openclaw");
  expect(named({ cwd: folder, path: undefined })).toBe(`${root}/bin/openclaw`);
});

test("another openclaw on the PATH is not this one", () => {
  const { root, bin, named } = setup();
  writeFileSync(join(bin, "openclaw"), "");
  expect(named({ cwd: root })).toBe("bin/openclaw");
});

test("without a known shell no path of this machine is shown", () => {
  expect(setup().named()).toBe("bin/openclaw");
  expect(setup("node_modules/openclaw").named()).toBe("openclaw");
  expect(programName({ from: "/", path: "", profile: "work", cwd: "/" })).toBe("openclaw --profile work");
});

test("a path with spaces is quoted, and the profile in use is named", () => {
  const { folder, root, named } = setup("it's mine");
  expect(named({ cwd: folder })).toBe(`'${root.replace("'", `'\\''`)}/bin/openclaw'`);
  expect(named({ cwd: root, profile: "work" })).toBe("bin/openclaw --profile work");
  expect(named({ cwd: root, profile: "dev" })).toBe("bin/openclaw --dev");
  expect(packageFolder(join(root, "dist"))).toBe(root);
});

test("commands in a text are replaced, other words and other programs are not", () => {
  const shown = (text: string): string => withProgram(text, "/a/bin/openclaw");
  expect(shown("run `openclaw doctor --fix`, or openclaw gateway.")).toBe("run `/a/bin/openclaw doctor --fix`, or /a/bin/openclaw gateway.");
  expect(shown("(bin/openclaw tui)")).toBe("(/a/bin/openclaw tui)");
  for (const text of ["this openclaw uses it", "/opt/openclaw doctor", "my-openclaw doctor", "openclaw doctors", "openclaw gateway-client", "openclaw"])
    expect(shown(text)).toBe(text);
  expect(withProgram("openclaw doctor", "$&")).toBe("$& doctor");
  expect(shown("Start it: \u001b[1mopenclaw gateway\u001b[22m")).toBe("Start it: \u001b[1m/a/bin/openclaw gateway\u001b[22m");
  expect(shown("openclaw skills list shows them")).toBe("/a/bin/openclaw skills list shows them");
});
