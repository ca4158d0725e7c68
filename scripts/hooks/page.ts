import { HOOK_ALIASES, HOOKS, type FieldSpec, type HookArea, type HookName, type HookSpec } from "../../src/hooks/index.ts";
import { readDeclarations, type Declarations } from "./types.ts";

const AREAS: Readonly<Record<HookArea, string>> = {
  agent: "Agent turn",
  model: "Model calls",
  tools: "Tools",
  messages: "Messages",
  sessions: "Sessions",
  subagents: "Subagents",
  lifecycle: "Lifecycle",
};

const MODES: Readonly<Record<HookSpec["mode"], string>> = {
  observe: "observes: handlers run side by side, what they return is ignored",
  decide: "decides: handlers run one after the other",
  sync: "decides at once: a promise is ignored with a warning",
};

const MERGES: Readonly<Record<FieldSpec["merge"], string>> = {
  first: "the first handler that sets it",
  last: "the last handler that sets it",
  join: "all of them, joined by a blank line in the order of the handlers",
  append: "all of them, in the order of the handlers",
  narrow: "what every handler that sets it names",
  assign: "laid over what was there, key by key",
  any: "true when any handler says so",
};

function fieldText(name: string, field: FieldSpec, spec: HookSpec): string {
  const notes = [
    spec.whole ? undefined : MERGES[field.merge],
    field.rewrites && `later handlers see it as \`event.${field.rewrites}\``,
    field.withTerminal && "counts only in a result that ends the dispatch",
    field.frozenBy && `ignored once another plugin has set \`${field.frozenBy}\``,
    field.prompt && "dropped when `hooks.allowPromptInjection` is `false`",
    field.maxChars && `at most ${field.maxChars} characters as JSON`,
    field.wrong === "block" && "a wrong value blocks",
  ].filter(Boolean);
  return notes.length === 0 ? `- \`${name}\`` : `- \`${name}\`: ${notes.join("; ")}`;
}

const ends = ({ field, value: end }: { field: string; value: unknown }): string => `\`${field}: ${JSON.stringify(end)}\``;

function failureText(spec: HookSpec): string {
  const timeouts = {
    skip: "A handler over its budget is abandoned and the next one runs.",
    block: "A handler over its budget blocks.",
    operator: "A handler over its budget is abandoned and the next one runs, unless `hooks.failClosed` is `true`: then it blocks.",
  };
  const thrown = spec.onThrow === "block" ? "A handler that throws blocks." : "A handler that throws is logged and the next one runs.";
  const strict = spec.strict ? " So does a result in any other shape." : "";
  return spec.mode === "sync" ? thrown : `${thrown}${strict} ${timeouts[spec.onTimeout]}`;
}

function resultText(spec: HookSpec): string[] {
  if (spec.environment)
    return [
      "The result is an object of variable names and texts; later handlers win. Names that are not valid, `PATH`, loaders, proxies and TLS settings are dropped.",
    ];
  const fields = Object.entries(spec.fields);
  if (fields.length === 0) return [];
  const end = spec.terminal ? `${spec.terminal.map(ends).join(" and ")} end${spec.terminal.length > 1 ? "" : "s"} the dispatch.` : undefined;
  const provisional = spec.whole?.provisional && ` Until then the first ${ends(spec.whole.provisional)} stands.`;
  const whole = spec.whole ? `One handler's result is taken as a whole.${provisional ?? ""}` : undefined;
  return [[end, whole].filter(Boolean).join(" "), fields.map(([name, field]) => fieldText(name, field, spec)).join("\n")].filter((text) => text !== "");
}

function code(declared: Declarations, names: readonly string[]): string {
  const texts = names.map((name) => declared.texts.get(name)).filter((text) => text !== undefined);
  return texts.length === 0 ? "" : `\`\`\`ts\n${texts.join("\n\n")}\n\`\`\``;
}

function hookText(name: HookName, spec: HookSpec, declared: Declarations): string {
  const types = declared.hooks.get(name);
  if (!types) throw new Error(`src/hooks/events declares no types for ${name}`);
  const alias = Object.entries(HOOK_ALIASES).find(([, target]) => target === name)?.[0];
  const facts = [
    `It ${MODES[spec.mode]}.`,
    spec.budgetMs > 0 ? `Budget: ${spec.budgetMs / 1000} s.` : "",
    spec.access === "conversation" ? "A plugin that is not bundled needs `hooks.allowConversationAccess: true`." : "",
    spec.newer ? "Newer than the other hooks: older hosts do not know it." : "",
    spec.deprecated ? `Deprecated: ${spec.deprecated}.` : "",
    alias ? `\`${alias}\` is a deprecated alias.` : "",
  ].filter((text) => text !== "");
  const parts = [
    `### ${name}`,
    spec.summary,
    `${facts.join(" ")} ${failureText(spec)}`,
    ...resultText(spec),
    code(declared, [types.event, types.result]),
    `Context: \`${types.ctx}\`.`,
  ];
  return parts.filter((text) => text !== "").join("\n\n");
}

function areaText(area: HookArea, declared: Declarations): string {
  const hooks = (Object.entries(HOOKS) as [HookName, HookSpec][]).filter(([, spec]) => spec.area === area);
  const contexts = new Set(hooks.map(([name]) => declared.hooks.get(name)!.ctx));
  return [
    `## ${AREAS[area]}`,
    ...hooks.map(([name, spec]) => hookText(name, spec, declared)),
    `### Contexts: ${AREAS[area].toLowerCase()}`,
    code(declared, [...contexts]),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

const INTRODUCTION = `# Hooks

<!-- Made by scripts/hooks-page.ts from src/hooks: change the declarations, not this page. -->

\`\`\`ts
api.on("before_tool_call", async (event, ctx) => ({ block: event.toolName === "exec", blockReason: "not here" }), { priority: 50, timeoutMs: 2000 });
\`\`\`

- **Order.** Higher \`priority\` first, the same priority in the order of registration. Observing handlers are started in that order and run side by side.
- **Budget.** The first of these that is set: \`plugins.entries.<id>.hooks.timeouts.<hook>\`, \`plugins.entries.<id>.hooks.timeoutMs\`, the \`timeoutMs\` of the registration, the hook's default.
  A handler over its budget is abandoned: its later result is ignored, and \`ctx.signal\` (made when you read it) fires.
- **Your own event.** Every handler gets its own copy; changing it changes nothing for others. Return what should change. Large or nested values are copied when you touch them: spread, iterate or
  \`JSON.stringify\` them as usual; \`structuredClone\` takes only plain copies, so go through JSON there. \`event.context.pluginConfig\` is your plugin's configuration.
- **Results.** \`undefined\` and \`null\` decide nothing. Fields of the wrong type are ignored with a diagnostic that names plugin, hook and field.
- **Breaker.** An observing handler that failed or took too long three times in a row is skipped for 60 s, then tried once. Deciding handlers are never skipped.
- **Filters.** \`{ filter: { tools, channels, agents, triggers } }\`: the handler is called only for those. \`matcher\` is another name for \`filter.tools\`, \`eligibleTriggers\` for \`filter.triggers\`.
- **Numbers.** \`openclaw plugins stats\` shows calls, failures, timeouts and times by plugin and hook.
- **Internal hooks.** \`api.registerHook\` registers for events of the older kind (\`command:new\`, \`message:received\`, \`gateway:startup\`, …). They are called only while \`hooks.internal.enabled\` is \`true\` in the configuration; those of \`api.on\` need no setting.
`;

function overview(): string {
  const rows = (Object.entries(HOOKS) as [HookName, HookSpec][]).map(([name, spec]) => {
    const fields = spec.environment
      ? "variables"
      : Object.keys(spec.fields)
          .map((field) => `\`${field}\``)
          .join(", ");
    return `| [\`${name}\`](#${name}) | ${spec.mode} | ${spec.budgetMs > 0 ? `${spec.budgetMs / 1000} s` : ""} | ${fields} |`;
  });
  return ["| hook | mode | budget | result |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** Types that others refer to and that stand nowhere yet. */
function shapesText(declared: Declarations): string {
  const shown = new Set([...declared.hooks.values()].flatMap(({ event, ctx, result }) => [event, ctx, result]));
  const named = (name: string): boolean => [...declared.texts].some(([other, text]) => other !== name && new RegExp(`\\b${name}\\b`).test(text));
  const rest = [...declared.texts.keys()].filter((name) => !shown.has(name) && !name.endsWith("Hooks") && named(name));
  return `## Shapes\n\n${code(declared, rest)}`;
}

/** The whole page. */
export function hooksPage(): string {
  const declared = readDeclarations();
  const areas = (Object.keys(AREAS) as HookArea[]).map((area) => areaText(area, declared));
  return `${[INTRODUCTION.trimEnd(), overview(), ...areas, shapesText(declared)].join("\n\n")}\n`;
}
