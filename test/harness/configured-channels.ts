/** A section for each bundled channel that is enough to start it, with credentials of nobody and addresses where nobody listens. */
export const CONFIGURED_CHANNELS = {
  telegram: { botToken: "7012345678:AAF-secret-of-a-test-00000000000000", apiRoot: "http://127.0.0.1:1" },
  discord: { token: "MTEwMDAwMDAwMDAwMDAwMDAwMQ.GAAAAA.a-token-of-a-test-0000000000" },
  slack: { botToken: "xoxb-0-test", appToken: "xapp-0-test" },
  whatsapp: { accounts: { default: { enabled: true } } },
  signal: { account: "+15551234567", httpUrl: "http://127.0.0.1:1" },
  imessage: { cliPath: "/nowhere/imsg" },
  irc: { host: "127.0.0.1", port: 1, nick: "claw", tls: false },
  googlechat: { serviceAccountFile: "/nowhere/key.json", audienceType: "project-number", audience: "1234567890" },
  mattermost: { baseUrl: "http://127.0.0.1:1", botToken: "abcdefghijklmnopqrstuvwxyz" },
} as const satisfies Readonly<Record<string, object>>;

/** All of them, with one turned on. */
export const allButOneOff = (on: keyof typeof CONFIGURED_CHANNELS): Readonly<Record<string, object>> =>
  Object.fromEntries(Object.entries(CONFIGURED_CHANNELS).map(([id, section]) => [id, { ...section, enabled: id === on }]));
