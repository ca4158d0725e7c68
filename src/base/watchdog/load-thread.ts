/** The thread that watches a command while it loads plugins: `watch-loading.ts` starts it. */
import { workerData } from "node:worker_threads";
import { endBlockedCommand, type LoadWatch } from "./watch-loading.ts";

const watch: LoadWatch = workerData;
endBlockedCommand(watch);
