/** Models that are newer than any table, and the older one whose facts they share until somebody says otherwise. */
const RULES: readonly { readonly provider: string | undefined; readonly id: RegExp; readonly from: (match: RegExpExecArray) => readonly string[] }[] = [
  {
    provider: undefined,
    id: /^(.*)claude-(opus|sonnet)-4[-.]6(?!\d)(.*)$/,
    from: ([, before = "", family, after = ""]) => [
      `${before}claude-${family}-4-5${after}`,
      `${before}claude-${family}-4.5${after}`,
      `${before}claude-${family}-4-5`,
      `${before}claude-${family}-4.5`,
    ],
  },
  { provider: "zai", id: /^glm-5(?!\d)/, from: () => ["glm-4.7"] },
  { provider: "openai-codex", id: /^gpt-5\.3-codex(?:-|$)/, from: () => ["gpt-5.2-codex"] },
];

/** Ids whose facts stand in for those of an unknown model, best first. */
export function predecessorsOf(provider: string, id: string): readonly string[] {
  for (const rule of RULES) {
    const match = rule.provider === undefined || rule.provider === provider ? rule.id.exec(id) : null;
    if (match) return rule.from(match);
  }
  return [];
}
