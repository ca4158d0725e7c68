import { TEMPLATES, type Template } from "./templates.ts";

export interface Scaffold {
  readonly id: string;
  readonly name: string;
  readonly template: Template;
  readonly js: boolean;
  readonly hostVersion: string;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The files of a new plugin, by path. */
export function filesOf(scaffold: Scaffold): Readonly<Record<string, string>> {
  const { id, name, template, js, hostVersion } = scaffold;
  const { description, code, test, manifest } = TEMPLATES[template];
  const ending = js ? "js" : "ts";
  const facts = { id, name, hookKey: id.replaceAll("-", "_") };
  return {
    "openclaw.plugin.json": json({ id, name, description, ...manifest(facts) }),
    "package.json": json({
      name: `openclaw-plugin-${id}`,
      version: "0.1.0",
      description,
      type: "module",
      files: [`index.${ending}`, "openclaw.plugin.json", "README.md"],
      scripts: { test: "node node_modules/openclaw/scripts/plugin-test.cjs" },
      keywords: ["openclaw", "openclaw-plugin"],
      peerDependencies: { openclaw: `>=${hostVersion}` },
      peerDependenciesMeta: { openclaw: { optional: true } },
      openclaw: { extensions: [`./index.${ending}`] },
    }),
    [`index.${ending}`]: js ? withoutTypes(code(facts)) : code(facts),
    [`test/index.test.${ending}`]: js ? withoutTypes(test(facts)) : test(facts),
    "README.md": readme(scaffold, description),
    ".gitignore": "node_modules/\n*.tgz\n",
    ...(js
      ? {}
      : {
          "tsconfig.json": json({
            compilerOptions: {
              target: "esnext",
              module: "nodenext",
              moduleResolution: "nodenext",
              strict: true,
              noEmit: true,
              erasableSyntaxOnly: true,
              verbatimModuleSyntax: true,
              allowImportingTsExtensions: true,
              skipLibCheck: true,
            },
            include: ["index.ts", "test"],
          }),
        }),
  };
}

/** Templates are TypeScript with types in two forms only: `import type` lines, and one of these names after a parameter. */
function withoutTypes(code: string): string {
  return code.replaceAll(/^import type .*\n/gm, "").replaceAll(/: (?:OpenClawPluginApi|ChannelPlugin|string)\b/g, "");
}

function readme({ id, name, js }: Scaffold, description: string): string {
  return `# ${name}

${description}

    npm test                             run its tests in a real host; nothing is downloaded
    openclaw plugins install . --link    use it where it is, while you work on it
    openclaw plugins reload ${id}${" ".repeat(Math.max(1, 13 - id.length))}load your changes into the running gateway
    openclaw plugins doctor              what is wrong with it
    npm pack                             make the archive that others install with: openclaw plugins install <archive>

- \`openclaw.plugin.json\`: id, description and the JSON Schema of its settings (\`plugins.entries.${id}.config\`). It is read without running code.
- \`index.${js ? "js" : "ts"}\`: the code. ${js ? "" : "TypeScript is loaded as it is, there is no build. "}It runs with the gateway's full authority.
- \`test/\`: tests with \`node:test\` and \`openclaw/plugin-sdk/testing\`.
- \`node_modules/openclaw\` is a link to the openclaw that made this folder: tests and editors find \`openclaw/plugin-sdk\` there.
  \`npm install\` takes it away; \`openclaw plugins create .\` in this folder puts it back and changes nothing else.
`;
}
