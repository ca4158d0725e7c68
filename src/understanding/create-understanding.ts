/** Makes files and links of a message known to a model that cannot see them. */
import { stat } from "node:fs/promises";
import { messageOf, AppError } from "../base/errors.ts";
import { fileBlock, documentKind, extractOriginalFilename, type DocumentLimits, type DocumentText } from "../media/index.ts";
import type { Selection } from "../models/index.ts";
import type { ImageContent } from "../protocol/index.ts";
import { modelOverride, decideByRules } from "../sessions/index.ts";
import type { UnderstandingDeps } from "./deps.ts";
import { describe, nameOf, type Attempt } from "./describe.ts";
import { understandLinks } from "./links.ts";
import { capabilityOf, capabilitySettings, concurrencyOf, type CapabilitySettings, type MediaCapability } from "./settings.ts";
import type { Decision, ReceivedFile, Understood, UnderstandingRequest, UnderstoodFile } from "./types.ts";
import { readRegular } from "../base/open-below.ts";
import { formatBytes } from "../base/text.ts";

/** Understands what comes with messages. Nothing in it rejects but an abort: a file that cannot be understood is a note. */
export interface Understanding {
  understand(request: UnderstandingRequest, signal: AbortSignal): Promise<Understood>;
  /** What was decided about the last message of a session that had files or links. */
  last(sessionKey: string): readonly Decision[];
}

const MOST_SESSIONS = 500;
const NOTHING: UnderstoodFile = { lines: [] };
const TITLES: Readonly<Record<MediaCapability, string>> = { image: "Image", video: "Video" };

/** Who describes files of a kind, or why nobody does. */
type Choice = { readonly attempts: readonly Attempt[]; readonly settings: CapabilitySettings } | { readonly reason: string };

/** One message, as it is worked on. */
interface Work {
  readonly deps: UnderstandingDeps;
  readonly request: UnderstandingRequest;
  readonly selection: Selection | undefined;
  readonly decisions: Decision[];
  readonly signal: AbortSignal;
}

const seesImages = ({ selection }: Work): boolean => selection?.entry.input.includes("image") === true;

/** Models for a kind of file that the configuration says nothing about. */
async function foundAttempts({ deps, request: { agentId, entry } }: Work, capability: MediaCapability): Promise<readonly Attempt[]> {
  const session = modelOverride(entry);
  const models = await deps.models();
  const seeing = await models.imageModels({ agentId, ...(session ? { session } : {}) }).catch(() => []);
  const { catalogue, hasCredential } = await models.choices(agentId);
  const google = capability === "video" && hasCredential("google") ? catalogue.list({ provider: "google" }).filter(({ input }) => input.includes("image")) : [];
  return [...google.slice(0, 1), ...seeing].map((found) => ({ by: `${found.provider}/${found.id}`, entry: found }));
}

async function choose(work: Work, capability: MediaCapability): Promise<Choice> {
  const { deps, request, selection } = work;
  const settings = capabilitySettings(deps.config.current, capability);
  const { enabled, scope, candidates } = settings;
  if (enabled === false) return { reason: `tools.media.${capability}.enabled is false` };
  if (!decideByRules(scope, request.sessionKey, request.entry, request.channel).allowed) return { reason: `tools.media.${capability}.scope` };
  if (capability === "image" && seesImages(work)) return { reason: "the model sees images" };
  if (candidates.length > 0) return { settings, attempts: candidates.map((candidate) => ({ by: nameOf(candidate.model), candidate })) };
  if (capability === "image" && selection?.image && enabled !== true) return { reason: "agents.defaults.imageModel answers" };
  const attempts = await foundAttempts(work, capability);
  return attempts.length === 0 ? { reason: "no model that sees images is configured" } : { settings, attempts };
}

/** Runs work on a list, so many at a time. */
async function eachOf<T, R>(items: readonly T[], most: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

async function describeOne(work: Work, choice: Extract<Choice, { attempts: unknown }>, file: ReceivedFile, title: string): Promise<UnderstoodFile> {
  const { deps, request, signal, decisions } = work;
  const { capability } = choice.settings;
  try {
    const { text, by } = await describe(deps, request, { file, capability, attempts: choice.attempts, signal });
    decisions.push({ capability, outcome: "ok", by });
    return { lines: [`[${title}]\nDescription:\n${deps.mark(text, { source: capability })}`], isDescribed: capability === "image" };
  } catch (error) {
    signal.throwIfAborted();
    const reason = messageOf(error);
    decisions.push({ capability, outcome: "failed", reason });
    deps.log.warn(`a file could not be described: ${reason}`, { sessionKey: request.sessionKey });
    // Without a model of its own, a film is a file like any other.
    return "entry" in (choice.attempts[0] ?? {}) && capability === "video" ? NOTHING : { lines: [`[media: the ${capability} could not be described]`] };
  }
}

/** Pictures and films: as many of each as `attachments` allows. */
async function describeFiles(work: Work, capability: MediaCapability, files: readonly ReceivedFile[]): Promise<ReadonlyMap<ReceivedFile, UnderstoodFile>> {
  const found = new Map<ReceivedFile, UnderstoodFile>();
  if (files.length === 0) return found;
  const choice = await choose(work, capability).catch((error: unknown): Choice => ({ reason: messageOf(error) }));
  if ("reason" in choice) {
    work.decisions.push({ capability, outcome: "skipped", reason: choice.reason });
    return found;
  }
  const { maxAttachments, takesLast } = choice.settings;
  const taken = takesLast ? files.slice(-maxAttachments) : files.slice(0, maxAttachments);
  const titles = new Map(taken.map((file, at) => [file, taken.length === 1 ? TITLES[capability] : `${TITLES[capability]} ${at + 1}/${taken.length}`]));
  const described = await eachOf(taken, concurrencyOf(work.deps.config.current), (file) => describeOne(work, choice, file, titles.get(file) ?? ""));
  for (const [at, file] of taken.entries()) found.set(file, described[at] ?? NOTHING);
  // Once pictures are described, those beyond the limit are not shown either: the model would be another one.
  const isAny = described.some(({ isDescribed }) => isDescribed);
  const leftOut = (at: number): string =>
    `[media: ${capability} ${at + 1} of ${files.length} was not described; tools.media.${capability}.attachments allows ${maxAttachments}]`;
  for (const [at, file] of files.entries()) if (isAny && !found.has(file)) found.set(file, { lines: [leftOut(at)], isDescribed: true });
  return found;
}

/** A scan has pictures instead of text: the model looks at them, or has the first one described. */
async function scanned(work: Work, pages: readonly Uint8Array[]): Promise<UnderstoodFile> {
  const pictures = pages.map((data): ImageContent => ({ type: "image", mimeType: "image/jpeg", data: Buffer.from(data).toString("base64") }));
  if (seesImages(work))
    return { lines: [`[the document has no text; ${pictures.length === 1 ? "its page is" : "its pages are"} attached as images]`], pictures };
  const choice = await choose(work, "image");
  const [first] = pictures;
  if ("reason" in choice || !first) return { lines: ["[media: the document has no text; it may be scanned]"] };
  return { ...(await describeOne(work, choice, { mimeType: "image/jpeg", image: first }, "Image: first page")), isDescribed: false };
}

/** Of the model's context window, in characters of four to a token. */
const WINDOW_SHARE = 0.25;
const CHARS_PER_TOKEN = 4;
const MESSAGE_CHARS = 50_000;
const MESSAGE_PAGES = 100;
const SCAN_CHARS = 200;
const MAX_BYTES = 25 * 1024 * 1024;

/** Limits of a message's document: what is set for files of requests, else more pages and fewer characters, and never most of the context window. */
function messageLimits({ config }: UnderstandingDeps, windowTokens: number | undefined): DocumentLimits {
  const { maxChars, timeoutMs, pdf } = config.current.gateway?.http?.endpoints?.responses?.files ?? {};
  const most = windowTokens === undefined ? MESSAGE_CHARS : Math.floor(windowTokens * CHARS_PER_TOKEN * WINDOW_SHARE);
  return {
    maxChars: Math.min(maxChars ?? MESSAGE_CHARS, most),
    maxPages: pdf?.maxPages ?? MESSAGE_PAGES,
    minTextChars: pdf?.minTextChars ?? SCAN_CHARS,
    ...(pdf?.maxPixels === undefined ? {} : { maxPixels: pdf.maxPixels }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** Undefined: this is no document. Rejects with the reason when it cannot be read. */
async function readMessageFile(
  deps: UnderstandingDeps,
  { path, mimeType }: ReceivedFile,
  limits: DocumentLimits,
  signal: AbortSignal,
): Promise<DocumentText | undefined> {
  if (path === undefined || documentKind(mimeType) === undefined) return undefined;
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new AppError("INVALID_INPUT", `it has ${formatBytes(size)}; at most ${formatBytes(MAX_BYTES)} are read`);
  return await deps.documents.read({ data: await readRegular(path), mimeType, fileName: path }, limits, signal);
}

const displayName = ({ path }: ReceivedFile): string => (path === undefined ? "file" : extractOriginalFilename(path));

async function readOne(work: Work, file: ReceivedFile): Promise<UnderstoodFile> {
  const { deps, decisions, signal, selection } = work;
  try {
    const read = await readMessageFile(deps, file, messageLimits(deps, selection?.contextWindow.tokens), signal);
    if (!read) return NOTHING;
    decisions.push({ capability: "document", outcome: "ok" });
    const block = read.text === "" ? [] : [fileBlock(deps.mark, { name: displayName(file), mimeType: file.mimeType }, read)];
    if (!read.pictures) return { lines: block.length > 0 ? block : ["[media: the document has no text]"] };
    const pages = await scanned(work, read.pictures);
    return { ...pages, lines: [...block, ...pages.lines] };
  } catch (error) {
    signal.throwIfAborted();
    decisions.push({ capability: "document", outcome: "failed", reason: messageOf(error) });
    return { lines: [`[media: ${displayName(file)} could not be read: ${messageOf(error)}]`] };
  }
}

async function selectionFor({ models, log }: UnderstandingDeps, { agentId, entry, model }: UnderstandingRequest): Promise<Selection | undefined> {
  const session = modelOverride(entry);
  const wish = { agentId, ...(session ? { session } : {}) };
  try {
    const chosen = await models();
    return await (model === undefined ? chosen.select(wish) : chosen.select({ ...wish, override: model }).catch(() => chosen.select(wish)));
  } catch (error) {
    // The turn reports it.
    log.debug(`the model of a message is not known: ${messageOf(error)}`);
    return undefined;
  }
}

export function createUnderstanding(deps: UnderstandingDeps): Understanding {
  const recent = new Map<string, readonly Decision[]>();

  function keep({ sessionKey, files }: UnderstandingRequest, decisions: readonly Decision[]): void {
    if (files.length === 0 && decisions.length === 0) return;
    recent.delete(sessionKey);
    recent.set(sessionKey, decisions);
    const [oldest] = recent.keys();
    if (recent.size > MOST_SESSIONS && oldest !== undefined) recent.delete(oldest);
  }

  return {
    async understand(request, signal) {
      const { files } = request;
      const kinds = files.map(({ mimeType }) => capabilityOf(mimeType));
      const ofKind = (kind: string): readonly ReceivedFile[] => files.filter((_, at) => kinds[at] === kind);
      const selection = kinds.some((kind) => kind !== undefined) ? await selectionFor(deps, request) : undefined;
      const work: Work = { deps, request, selection, decisions: [], signal };
      const [images, films, documents, links] = await Promise.all([
        describeFiles(work, "image", ofKind("image")),
        describeFiles(work, "video", ofKind("video")),
        eachOf(ofKind("document"), concurrencyOf(deps.config.current), async (file) => [file, await readOne(work, file)] as const),
        understandLinks(deps, request, signal),
      ]);
      const read = new Map(documents);
      keep(request, [...work.decisions, ...links.decisions]);
      return { files: files.map((file) => images.get(file) ?? films.get(file) ?? read.get(file) ?? NOTHING), links: links.blocks };
    },
    last: (sessionKey) => recent.get(sessionKey) ?? [],
  };
}
