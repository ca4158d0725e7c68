import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { manualClock, systemClock, type Clock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { silentLogger } from "../base/log/logger.ts";
import { startLoopbackServer, type LoopbackHandler, type LoopbackServer } from "../base/loopback-server.fixture.ts";
import { seededRandom } from "../base/random.ts";
import type { Config, OpenClawConfig } from "../config/index.ts";
import { createVoice, type Voice } from "./create-voice.ts";
import { pieces, proofOf } from "./speakers/edge.ts";

const OGG = Buffer.from("OggS speech");
const MP3 = Buffer.from("ID3 speech");
/** In a shell: the beginning of a WAV file of unknown length, such as programs write to a pipe. */
const WAV = "printf 'RIFF\\377\\377\\377\\377WAVEfmt \\020\\0\\0\\0\\001\\0\\001\\0\\042\\126\\0\\0\\104\\254\\0\\0\\002\\0\\020\\0data\\377\\377\\377\\377'";

const ids = createIds(seededRandom(3));
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-voice-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

type Tts = NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>;

function open(
  tts: Tts,
  { env = {}, openaiUrl, keys = [], clock = systemClock }: { env?: Record<string, string>; openaiUrl?: string; keys?: string[]; clock?: Clock } = {},
): Voice {
  const current = { messages: { tts }, models: { providers: { openai: { baseUrl: openaiUrl } } } } as unknown as OpenClawConfig;
  const config = {
    current,
    env: () => env,
    paths: { state: join(home, "state"), home },
    resolveSecret: async (input: unknown) => String(input),
  } as unknown as Config;
  const candidate = { type: "api_key" };
  const auth = { candidates: async () => keys.map(() => candidate), credential: async () => ({ apiKey: keys[0] }) } as never;
  return createVoice({ config, clock, ids, log: silentLogger, auth: async () => auth, summarise: async () => "" });
}

const speech: LoopbackHandler = (request, response) => response.end(request.url?.includes("mp3") || !request.url?.includes("opus") ? MP3 : OGG);

/** A program that writes its arguments and its input into the file it is given. */
function program(body: string): string {
  const path = join(home, "speak");
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("OpenAI and ElevenLabs", () => {
  let server: LoopbackServer;
  afterEach(() => server[Symbol.asyncDispose]());

  test("OpenAI is asked with the documented model and voice, as Ogg Opus for a voice note", async () => {
    server = await startLoopbackServer((_request, response, body) =>
      response.end((JSON.parse(body) as { response_format: string }).response_format === "opus" ? OGG : MP3),
    );
    const voice = open({}, { openaiUrl: server.url, keys: ["sk-of-the-profile"] });
    const note = await voice.convert({ text: " Hello there ", asVoiceNote: true });
    expect(note).toMatchObject({
      provider: "openai",
      outputFormat: "opus",
      voiceCompatible: true,
      audioPath: expect.stringMatching(/media\/outbound\/voice---.*\.ogg$/),
    });
    expect(readFileSync(note.audioPath)).toEqual(OGG);
    const file = await voice.convert({ text: "Hello", asVoiceNote: false });
    expect(file).toMatchObject({ outputFormat: "mp3", voiceCompatible: false, audioPath: expect.stringMatching(/\.mp3$/) });
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/audio/speech", headers: { authorization: "Bearer sk-of-the-profile" } });
    expect(JSON.parse(server.requests[0]!.body)).toEqual({ model: "gpt-4o-mini-tts", voice: "alloy", input: "Hello there", response_format: "opus" });
  });

  test("ElevenLabs is asked with the documented defaults, and with what the configuration says", async () => {
    server = await startLoopbackServer(speech);
    const settings = { baseUrl: `${server.url}/`, voiceId: "abcdefghij0123456789", seed: 7, languageCode: "de", voiceSettings: { speed: 1.2 } };
    const voice = open({ provider: "elevenlabs", elevenlabs: settings }, { env: { XI_API_KEY: "xi-key" } });
    expect(await voice.convert({ text: "Guten Tag", asVoiceNote: false })).toMatchObject({ provider: "elevenlabs", outputFormat: "mp3_44100_128" });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/text-to-speech/abcdefghij0123456789?output_format=mp3_44100_128",
      headers: { "xi-api-key": "xi-key" },
    });
    expect(JSON.parse(server.requests[0]!.body)).toEqual({
      text: "Guten Tag",
      model_id: "eleven_multilingual_v2",
      seed: 7,
      language_code: "de",
      voice_settings: { stability: 0.5, similarity_boost: 0.75, style: 0, use_speaker_boost: true, speed: 1.2 },
    });
  });

  test("one that fails gives way to the next, and the error of all names each without its key", async () => {
    server = await startLoopbackServer((_request, response) =>
      response.writeHead(401).end(JSON.stringify({ error: { message: "bad key sk-secret-0123456789" } })),
    );
    const local = { command: program(`${WAV} > "$1"; cat >> "$1"`), args: ["{file}"] };
    const voice = open({ edge: { enabled: false }, local }, { openaiUrl: server.url, keys: ["sk-secret-0123456789"] });
    expect(await voice.convert({ text: "Hello", asVoiceNote: false })).toMatchObject({ provider: "local" });
    expect((await voice.status()).last).toMatchObject({ provider: "local", characters: 5 });
    const alone = open(
      { provider: "openai", edge: { enabled: false }, local: { command: "/nowhere" } },
      { openaiUrl: server.url, keys: ["sk-secret-0123456789"] },
    );
    const failure: Error = await alone.convert({ text: "Hello", asVoiceNote: false }).then(
      () => new Error("spoken"),
      (error: Error) => error,
    );
    expect(failure.message).toMatch(/openai: OpenAI answered with status 401: bad key/);
    expect(failure.message).not.toContain("sk-secret-0123456789");
  });

  test("where local is chosen no text leaves this machine: not when it fails, and not for a tag, unless tags may name providers", async () => {
    server = await startLoopbackServer(speech);
    const working = { command: program(`${WAV} > "$1"; cat >> "$1"`), args: ["{file}"] };
    const overrides = { provider: "openai", openai: { voice: "nova" } } as const;
    const over = (local: NonNullable<Tts["local"]>, more: Tts = {}) =>
      open({ provider: "local", edge: { enabled: false }, local, ...more }, { openaiUrl: server.url, keys: ["sk-x"], env: { XI_API_KEY: "xi" } });
    // Before anything is chosen for good.
    const tagged = await open({ local: { command: "/bin/false" } }, { openaiUrl: server.url, keys: ["sk-x"] })
      .convert({ text: "private", asVoiceNote: false, overrides: { provider: "local" } })
      .catch((error: Error) => error.message);
    expect(tagged).toMatch(/^the text could not be spoken: local: \/bin\/false exited with code 1$/);
    for (const command of ["/bin/false", "/nowhere"])
      await expect(over({ command }).convert({ text: "private", asVoiceNote: false, overrides })).rejects.toThrow(
        /^the text could not be spoken: local: [^;]*(?:; check [^;]*)?$/,
      );
    expect(await over(working).convert({ text: "private", asVoiceNote: false, overrides })).toMatchObject({ provider: "local" });
    const preferred = over(working, { provider: "openai" });
    preferred.change({ provider: "local" });
    expect((await preferred.status()).order).toEqual(["local"]);
    expect(await preferred.convert({ text: "private", asVoiceNote: false, overrides })).toMatchObject({ provider: "local" });
    expect(server.requests).toEqual([]);
    const away = { modelOverrides: { allowProvider: true }, openai: { baseUrl: "http://127.0.0.1:9" }, elevenlabs: { baseUrl: server.url } };
    expect(await over(working, away).convert({ text: "public", asVoiceNote: false, overrides })).toMatchObject({ provider: "local" });
    expect(await over(working, { modelOverrides: { allowProvider: true } }).convert({ text: "public", asVoiceNote: false, overrides })).toMatchObject({
      provider: "openai",
    });
  });

  test("few texts are spoken at the same time, and few wait; more are refused", async () => {
    let running = 0;
    let most = 0;
    const held: (() => void)[] = [];
    server = await startLoopbackServer((_request, response) => {
      running += 1;
      most = Math.max(most, running);
      held.push(() => {
        running -= 1;
        response.end(MP3);
      });
    });
    const voice = open({ edge: { enabled: false }, local: { command: "/nowhere" } }, { openaiUrl: server.url, keys: ["sk-x"] });
    const leaving = new AbortController();
    const texts = Array.from({ length: 40 }, (_, at) =>
      voice.convert({ text: `Text ${at}`, asVoiceNote: false, ...(at === 5 ? { signal: leaving.signal } : {}) }).then(
        () => "spoken",
        (error: Error) => error.message,
      ),
    );
    await expect.poll(() => held.length).toBe(4);
    leaving.abort(new Error("left"));
    expect(await texts[5]).toBe("left");
    let done = false;
    const all = Promise.all(texts).finally(() => (done = true));
    await expect
      .poll(() => {
        for (const release of held.splice(0)) release();
        return done;
      })
      .toBe(true);
    const ends = await all;
    expect(ends.filter((end) => end === "spoken")).toHaveLength(35);
    expect(ends.slice(36)).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^4 are running and 32 are waiting; try again/)));
    expect(most).toBe(4);
  });

  test("a server of one's own gets the key that is set for it, and never that of the models", async () => {
    server = await startLoopbackServer(speech);
    const others = { edge: { enabled: false }, local: { command: "/nowhere" } } as const;
    for (const [openai, authorization] of [
      [{ baseUrl: server.url }, undefined],
      [{ baseUrl: server.url, apiKey: "own" }, "Bearer own"],
    ] as const) {
      expect(await open({ ...others, openai }, { keys: ["sk-of-the-models"] }).convert({ text: "Hello", asVoiceNote: false })).toMatchObject({
        provider: "openai",
      });
      expect(server.requests.at(-1)?.headers["authorization"]).toBe(authorization);
    }
  });

  test("a connection that is cut is said to be", async () => {
    server = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("ID3", () => response.destroy());
    });
    const voice = open({ edge: { enabled: false }, local: { command: "/nowhere" } }, { openaiUrl: server.url, keys: ["sk-x"] });
    await expect(voice.convert({ text: "Hello", asVoiceNote: false })).rejects.toThrow("openai: the connection ended before the answer was complete");
  });

  const png = Buffer.from("89504e470d0a1a0a00", "hex");
  const silence = Buffer.from("RIFF\x24\0\0\0WAVEdata\0\0\0\0", "latin1");
  const texts = ["<!doctype html><title>Sign in</title>", '{"error":"quota"}', "Überlastet: später noch einmal"];
  test.each([...texts, png, silence])("one that answers without audio gives way to the next: %s", async (answer) => {
    server = await startLoopbackServer((_request, response) => response.end(answer));
    const local = { command: program(`${WAV} > "$1"; cat >> "$1"`), args: ["{file}"] };
    const voice = open({ edge: { enabled: false }, local }, { openaiUrl: server.url, keys: ["sk-x"] });
    expect(await voice.convert({ text: "Hello", asVoiceNote: false })).toMatchObject({ provider: "local" });
  });

  test("one that hangs gives way after its time", async () => {
    const clock = manualClock();
    server = await startLoopbackServer(() => clock.advance(20_000));
    const local = { command: program(`${WAV} > "$1"; cat >> "$1"`), args: ["{file}"] };
    const voice = open({ timeoutMs: 20_000, edge: { enabled: false }, local }, { openaiUrl: server.url, keys: ["sk-x"], clock });
    expect(await voice.convert({ text: "Hello", asVoiceNote: false })).toMatchObject({ provider: "local" });
  });
});

describe("Edge", () => {
  interface Asked {
    readonly url: URL;
    readonly origin: string | undefined;
    readonly frames: string[];
  }

  async function startEdge(answer: (text: string) => Buffer): Promise<AsyncDisposable & { readonly url: string; readonly asked: Asked[] }> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((resolve) => server.once("listening", resolve));
    const asked: Asked[] = [];
    server.on("connection", (socket, request) => {
      const frames: string[] = [];
      asked.push({ url: new URL(request.url!, "http://edge"), origin: request.headers.origin, frames });
      socket.on("message", (data: Buffer) => {
        const text = data.toString("utf8");
        frames.push(text);
        if (!text.includes("Path:ssml")) return;
        const header = "X-RequestId:1\r\nContent-Type:audio/mpeg\r\nPath:audio\r\n";
        const length = Buffer.alloc(2);
        length.writeUInt16BE(header.length);
        socket.send("X-RequestId:1\r\nPath:turn.start\r\n\r\n{}");
        socket.send(Buffer.concat([length, Buffer.from(header), answer(text)]));
        socket.send("X-RequestId:1\r\nPath:turn.end\r\n\r\n{}");
      });
    });
    return {
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/edge/v1`,
      asked,
      async [Symbol.asyncDispose]() {
        for (const client of server.clients) client.terminate();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  test("a text goes as SSML, escaped, and comes back as MP3; a long one in pieces over one connection", async () => {
    await using edge = await startEdge((ssml) => Buffer.from(`<${/<prosody[^>]*>([^]*)<\/prosody>/.exec(ssml)?.[1]?.slice(0, 3)}>`));
    const voice = open({ edge: { voice: "de-DE-KatjaNeural", lang: "de-DE", rate: "+10%" } }, { env: { OPENCLAW_TEST_EDGE_TTS_URL: edge.url } });
    const text = `<b> & "so"\u0007. ${"Ein Satz mit Umlauten: äöü. ".repeat(140)}`;
    const { audioPath, outputFormat, provider } = await voice.convert({ text, asVoiceNote: true });
    expect({ outputFormat, provider }).toEqual({ outputFormat: "audio-24khz-48kbitrate-mono-mp3", provider: "edge" });
    expect(readFileSync(audioPath, "utf8")).toMatch(/^<&lt>(?:<Ein>)+$/);
    const [{ url, origin, frames }] = edge.asked as [Asked];
    expect(edge.asked).toHaveLength(1);
    expect(url.searchParams.get("Sec-MS-GEC")).toMatch(/^[0-9A-F]{64}$/);
    expect(origin).toMatch(/^chrome-extension:/);
    expect(frames[1]).toContain(
      'xml:lang="de-DE"><voice name="de-DE-KatjaNeural"><prosody pitch="+0Hz" rate="+10%" volume="+0%">&lt;b&gt; &amp; &quot;so&quot; .',
    );
  });

  test("a service that closes the connection is said to have done so", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((resolve) => server.once("listening", resolve));
    server.on("connection", (socket) => socket.on("message", () => socket.close(1007, "voice not supported")));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const voice = open({ local: { command: "/nowhere" } }, { env: { OPENCLAW_TEST_EDGE_TTS_URL: url } });
    await expect(voice.convert({ text: "Hello", asVoiceNote: false })).rejects.toThrow("edge: Edge closed the connection (1007) voice not supported");
    await new Promise((resolve) => server.close(resolve));
  });

  test("the proof is the hash of the time in steps of five minutes since 1601", () => {
    const ticks = (BigInt(1_700_000_000 + 11_644_473_600) / 300n) * 300n * 10_000_000n;
    const expected = createHash("sha256").update(`${ticks}6A5AA1D4EAFF4E9FB37E23D68491D6F4`).digest("hex").toUpperCase();
    expect(proofOf(1_700_000_000_000)).toBe(expected);
    expect(proofOf(1_700_000_099_999)).toBe(expected);
    expect(proofOf(1_700_000_400_000)).not.toBe(expected);
  });

  test.each([
    ["one sentence", "Short."],
    ["several", "One. Two. Three."],
    ["one long word", "x".repeat(500)],
    ["what is escaped", "ä&<".repeat(100)],
    ["words", "word ".repeat(100)],
    ["joined signs", "👩‍👩‍👧 ".repeat(50)],
  ])("pieces of %s hold everything and stay below the limit", (_what, text) => {
    const found = pieces(text, 40);
    expect(found.join("")).toBe(text);
    for (const piece of found) expect(piece.length).toBeLessThanOrEqual(40);
  });
});

describe("a program on this machine", () => {
  test("gets the text on its input or as an argument, never through a shell", async () => {
    const command = program(`${WAV} > "$1"; printf "%s|" "$@" >> "$1"; cat >> "$1"`);
    const text = 'Hello $(touch /tmp/owned) "quoted"; {file}';
    const piped = await open({ provider: "local", local: { command, args: ["{file}", "-v", "{voice}"], voice: "de" } }).convert({ text, asVoiceNote: true });
    expect(readFileSync(piped.audioPath, "utf8")).toMatch(/speech\.wav\|-v\|de\|Hello \$\(touch \/tmp\/owned\) "quoted"; \{file\}$/);
    expect(piped).toMatchObject({ provider: "local", outputFormat: "wav", voiceCompatible: false });
    const dashed = await open({ provider: "local", local: { command, args: ["{file}", "{text}"] } }).convert({ text: "-f/etc/passwd", asVoiceNote: false });
    expect(readFileSync(dashed.audioPath, "utf8")).toContain("| -f/etc/passwd|");
    const argued = await open({ provider: "local", local: { command, args: ["{file}", "{text}"] } }).convert({ text, asVoiceNote: false });
    expect(readFileSync(argued.audioPath, "utf8")).toContain(`|${text}|`);
  });

  test.each([
    ["echo oops >&2; exit 3", /exited with code 3: oops/],
    ["true", /wrote no audio; its arguments must contain \{file\}/],
    ['echo "<html>Sign in</html>" > "$1"', /wrote text instead of audio: <html>Sign in<\/html>/],
    ["printf '\\211PNG\\r\\n\\032\\nx' > \"$1\"", /wrote image\/png instead of audio/],
    ["printf '\\001\\002\\003\\0' > \"$1\"", /wrote no known type of audio; a WAV file is expected/],
    [`${WAV} > "$1"`, /wrote a WAV file without any samples/],
    ['mkfifo "$1"', /was to write speech\.wav as a regular file, but it is a pipe/],
    ['mkdir "$1"', /as a regular file, but it is a folder/],
    [`${WAV} > other; echo sound >> other; ln -s other "$1"`, /as a regular file, but it is a link/],
    [`${WAV} > other; echo sound >> other; ln other "$1"`, /it is another name of a file elsewhere/],
    [`truncate -s 60M "$1"`, /it has 62914560 bytes; at most 52428800 are read/],
  ])("that does %s is said to have failed", async (body, message) => {
    const voice = open({ provider: "local", edge: { enabled: false }, local: { command: program(body), args: ["{file}"] } });
    await expect(voice.convert({ text: "Hello", asVoiceNote: false })).rejects.toThrow(message);
  });
});

test("a program that makes pipes blocks nobody: files are read as before while many of them are asked", async () => {
  const voice = open({ provider: "local", edge: { enabled: false }, local: { command: program('mkfifo "$1"'), args: ["{file}"] } });
  const asked = Array.from({ length: 8 }, async () =>
    voice.convert({ text: "Hello", asVoiceNote: false }).then(
      () => "spoken",
      (error: Error) => error.message,
    ),
  );
  for (const message of await Promise.all(asked)) expect(message).toContain("it is a pipe");
  expect(await readFile(join(home, "speak"), "utf8")).toContain("mkfifo");
});

test("a link to the configuration is never sent as sound, also where the whole folder is one", async () => {
  const secret = join(home, "elsewhere");
  mkdirSync(secret);
  const audible = Buffer.concat([Buffer.from("RIFF\xff\xff\xff\x7fWAVEdata\xff\xff\xff\x7f", "latin1"), Buffer.from("secret")]);
  writeFileSync(join(secret, "speech.wav"), audible);
  const spoken = async (body: string): Promise<unknown> =>
    open({ provider: "local", edge: { enabled: false }, local: { command: program(body), args: ["{file}"] } }).convert({ text: "Hello", asVoiceNote: false });
  await expect(spoken(`ln -s ${secret}/speech.wav "$1"`)).rejects.toThrow("it is a link");
  await expect(spoken(`d=$(dirname "$1"); mv "$d" ${home}/moved; ln -s ${secret} "$d"`)).rejects.toThrow("it lies outside of its folder");
});

test("a program that writes another kind of audio than WAV has it sent as what it is", async () => {
  const voice = open({ provider: "local", local: { command: program(`printf 'ID3 speech' > "$1"`), args: ["{file}"] } });
  expect(await voice.convert({ text: "Hello", asVoiceNote: false })).toMatchObject({ outputFormat: "mp3", audioPath: expect.stringMatching(/\.mp3$/) });
});

describe("settings", () => {
  test("the file wins over the configuration, keeps what it does not know, and is private", async () => {
    const path = join(home, "state/settings/tts.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ other: 1, tts: { auto: "always", kept: true } }));
    const voice = open({ auto: "tagged", provider: "openai", edge: {} });
    expect(await voice.status()).toMatchObject({ auto: "always", prefsPath: path });
    voice.change({ provider: "edge" });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ other: 1, tts: { auto: "always", kept: true, provider: "edge" } });
    expect((await voice.status()).order[0]).toBe("edge");
  });

  test("a broken file is not used, and a variable names another one", async () => {
    const path = join(home, "prefs.json");
    writeFileSync(path, "{");
    const voice = open({ auto: "tagged" }, { env: { OPENCLAW_TTS_PREFS: path } });
    expect(await voice.status()).toMatchObject({ auto: "tagged", prefsPath: path });
  });

  test("without any key Edge speaks, then what is on this machine", async () => {
    const { order, speakers } = await open({ local: { command: program("") } }).status();
    expect(order).toEqual(["edge", "local"]);
    expect(speakers.find(({ id }) => id === "openai")?.missing).toMatch(/OPENAI_API_KEY/);
  });

  test("texts that are empty or too long are refused before anybody is asked", async () => {
    const voice = open({ maxTextLength: 10 });
    await expect(voice.convert({ text: "  ", asVoiceNote: false })).rejects.toThrow("the text is empty");
    await expect(voice.convert({ text: "x".repeat(11), asVoiceNote: false })).rejects.toThrow("11 characters; 10 can be spoken");
  });
});
