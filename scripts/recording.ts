/**
 * `node scripts/recording.ts [file]` records a terminal session and writes it as an animated SVG: a gateway answers, is killed with `kill -9` in the
 * middle of the answer, starts again, and the answer arrives, once. The run is real (gateway, TUI, sockets, SIGKILL); only the model is scripted.
 * No network. Needs a build (`npm run build`) and `script` of util-linux.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startModelServer, STREAMS } from "../test/fakes/model-server/index.ts";
import { makePlace, ROOT } from "../test/harness/gateway-process.ts";
import { programArguments } from "../test/harness/program.ts";
import { openPseudoTerminal } from "../test/harness/pseudo-terminal.ts";

const COLUMNS = 84;
const ROWS = 14;
const SAMPLE_MS = 100;
/** Longer pauses are shown as this long. */
const LONGEST_MS = 1600;
/** The whole recording. The last frame is shown for what is left, which is at least so long. */
const LENGTH_MS = 20_000;
const LAST_MS = 2500;
const API = "openai-completions";
const ANSWER = [
  "Three ideas for Saturday:\n\n",
  "1. Market at nine,\n",
  "2. a walk along the canal,\n",
  "3. soup for six.\n\n",
  "Shall I send the invitations?",
];

/** What is asked once everything is back, and its answer. */
const FOLLOW_UP = "yes, for seven o'clock";
const SENT = ["Done. Six invitations ", "for Saturday at seven ", "are on their way."];

interface Frame {
  readonly lines: readonly string[];
  readonly at: number;
}

const frames = (text: readonly string[]): readonly string[] => STREAMS[API]!({ text });
const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Runs the session; gives what the shell and the terminal showed, and when. */
async function record(): Promise<readonly Frame[]> {
  await using open = new AsyncDisposableStack();
  const server = open.use(await startModelServer());
  const place = makePlace();
  open.defer(() => rmSync(place.home, { recursive: true, force: true }));
  const model = { id: "large", name: "large", contextWindow: 100_000, maxTokens: 1000, input: ["text"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: "token-of-the-recording-0123456789" } },
      agents: { defaults: { model: { primary: "acme/large" }, workspace: join(place.home, "workspace") } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models: [model] } } },
    }),
  );
  const shell = ["$ openclaw gateway", "", ""];
  let gateway = open.use(await place.gateway({ build: "dist" }));
  const line = [process.execPath, ...programArguments("dist"), "tui"];
  const terminal = open.use(await openPseudoTerminal({ line, env: { ...place.env, NO_COLOR: "1" }, cwd: place.home, columns: COLUMNS, rows: ROWS }));
  await terminal.waitFor(/^ready/m);
  const taken: Frame[] = [];
  const started = performance.now();
  const take = (): void => {
    const lines = [...shell, ...terminal.screen().split("\n")].map((text) => text.trimEnd());
    if (lines.join("\n") !== taken.at(-1)?.lines.join("\n")) taken.push({ lines, at: performance.now() - started });
  };
  const timer = setInterval(take, SAMPLE_MS);
  open.defer(() => clearInterval(timer));
  const type = async (text: string): Promise<void> => {
    for (const letter of text) {
      terminal.send(letter);
      await pause(60);
    }
  };
  await type("plan a quiet Saturday");
  server.play({ kind: "stall", after: frames(ANSWER).slice(0, 4) });
  terminal.send("\r");
  await terminal.waitFor("canal");
  await pause(1200);
  server.play({ kind: "stream", frames: frames(ANSWER), gapMs: 400 });
  shell[1] = `$ kill -9 ${gateway.child.pid}`;
  gateway.child.kill("SIGKILL");
  await gateway.exited;
  await terminal.waitFor("Disconnected");
  await pause(1200);
  shell[2] = "$ openclaw gateway";
  take();
  gateway = open.use(await place.gateway({ build: "dist" }));
  await terminal.waitFor(/invitations\?[\s\S]*^ready/m);
  await pause(1500);
  await type(FOLLOW_UP);
  server.play({ kind: "stream", frames: frames(SENT), gapMs: 500 });
  terminal.send("\r");
  await terminal.waitFor(/on their way\.[\s\S]*^ready/m);
  await pause(300);
  take();
  // What ends now is not part of it.
  clearInterval(timer);
  return taken;
}

const SECRET_PLACE = /ws:\/\/127\.0\.0\.1:\d+/g;
const LINE_PX = 18;
const CHAR_PX = 8.4;

/** One SVG: every frame is a group that is visible for its time. Who prefers less motion sees the last frame. */
function draw(all: readonly Frame[]): string {
  const waits = all.slice(0, -1).map(({ at }, index) => Math.min(LONGEST_MS, Math.max(SAMPLE_MS, all[index + 1]!.at - at)));
  const taken = waits.reduce((sum, ms) => sum + ms, 0);
  // A busy machine takes longer; what is recorded on it is shown faster.
  const pace = Math.min(1, (LENGTH_MS - LAST_MS) / taken);
  const times = [...waits.map((ms) => ms * pace), LENGTH_MS - taken * pace];
  const total = LENGTH_MS;
  const width = Math.ceil(COLUMNS * CHAR_PX + 32);
  const height = (ROWS + 3) * LINE_PX + 40;
  let from = 0;
  const rules: string[] = [];
  const groups = all.map(({ lines }, index) => {
    const [begin, end] = [(100 * from) / total, (100 * (from + times[index]!)) / total];
    from += times[index]!;
    const isLast = index === all.length - 1;
    rules.push(
      `@keyframes f${index}{0%{opacity:${index === 0 ? 1 : 0}}${begin.toFixed(2)}%{opacity:1}${isLast ? "100%{opacity:1}" : `${end.toFixed(2)}%,100%{opacity:0}`}}#f${index}{animation-name:f${index}}`,
    );
    const texts = lines.flatMap((text, row) =>
      text === ""
        ? []
        : [
            `<text x="16" y="${28 + row * LINE_PX + (row > 2 ? 12 : 0)}"${row < 3 ? ' class="s"' : ""}>${xml(text.replaceAll(SECRET_PLACE, "ws://127.0.0.1:18789"))}</text>`,
          ],
    );
    return `<g id="f${index}"${isLast ? ' class="l"' : ""}>${texts.join("")}</g>`;
  });
  const style =
    `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}.s{fill:#7fdbca}` +
    `g{opacity:0;animation:${total}ms step-end infinite}${rules.join("")}` +
    `@media(prefers-reduced-motion:reduce){g{animation:none!important}.l{opacity:1}}`;
  const title = "A gateway is killed in the middle of an answer; after the restart the answer arrives, once.";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${title}</title><style>${style}</style><rect width="100%" height="100%" rx="8" fill="#11161d"/><path d="M0 ${28 + 2 * LINE_PX + 14}H${width}" stroke="#2b3440"/>${groups.join("\n")}</svg>\n`;
}

const file = process.argv[2] ?? join(ROOT, "docs/images/recording.svg");
const recorded = await record();
const svg = draw(recorded);
writeFileSync(file, svg);
process.stdout.write(`${file}: ${recorded.length} frames, ${Math.round(svg.length / 1024)} KB\n`);
