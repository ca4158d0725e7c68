/** Reads the parts of office files, which are zip archives. Runs in the document thread. */
import { fromBuffer, type Entry, type ZipFile } from "yauzl";
import { DocumentProblem } from "./problem.ts";

const MAX_ENTRIES = 20_000;
/** Most bytes to unpack from all parts, whatever sizes the archive declares. */
const MAX_UNPACKED = 64 * 1024 * 1024;

/** Reads parts by name. */
export interface Archive {
  readonly names: readonly string[];
  /** Empty when there is no such part. */
  text(name: string): Promise<string>;
}

function opened(data: Buffer): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  fromBuffer(data, { lazyEntries: true, validateEntrySizes: true }, (error, zip) =>
    error ? reject(new DocumentProblem("the file is damaged or not an office file")) : resolve(zip),
  );
  return promise;
}

function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, Entry>>();
  const found = new Map<string, Entry>();
  zip.on("entry", (entry: Entry) => {
    if (found.size >= MAX_ENTRIES) return reject(new DocumentProblem(`the file has more than ${MAX_ENTRIES} parts`));
    found.set(entry.fileName, entry);
    zip.readEntry();
  });
  zip.on("end", () => resolve(found));
  zip.on("error", () => reject(new DocumentProblem("the file is damaged")));
  zip.readEntry();
  return promise;
}

export async function openArchive(data: Uint8Array): Promise<Archive> {
  const zip = await opened(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  const entries = await entriesOf(zip);
  let left = MAX_UNPACKED;

  function unpack(entry: Entry): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    if (entry.isEncrypted()) return Promise.reject(new DocumentProblem("the file is protected with a password"));
    zip.openReadStream(entry, (error, stream) => {
      if (error) return reject(new DocumentProblem("the file is damaged"));
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => {
        left -= chunk.length;
        chunks.push(chunk);
        if (left < 0) stream.destroy(new DocumentProblem(`the file unpacks to more than ${MAX_UNPACKED / 1024 / 1024} MB`));
      });
      stream.on("end", () => resolve(Buffer.concat(chunks)));
      stream.on("error", (failure: Error) => reject(failure instanceof DocumentProblem ? failure : new DocumentProblem("the file is damaged")));
    });
    return promise;
  }

  return {
    names: [...entries.keys()],
    async text(name) {
      const entry = entries.get(name);
      return entry ? new TextDecoder().decode(await unpack(entry)) : "";
    },
  };
}
