/** The thread that reads one document and ends: what a hostile file does to it, nothing else notices. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../../base/errors.ts";
import { DocumentProblem } from "../problem.ts";
import type { ThreadAnswer, ThreadRequest } from "../types.ts";

async function read({ kind, data, limits }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    if (kind === "pdf") return await (await import("../pdf.ts")).readPdf(data, limits);
    return { text: await (await import("../office.ts")).readOffice(data, limits), pictures: [] };
  } catch (error) {
    return error instanceof DocumentProblem ? { problem: error.message } : { error: messageOf(error) };
  }
}

void read(workerData as ThreadRequest).then((answer) => parentPort?.postMessage(answer));
