export {
  createChannelDirectoryAdapter,
  createRuntimeDirectoryLiveAdapter,
  listDirectoryEntriesFromSources,
  listResolvedDirectoryUserEntriesFromAllowFrom,
  toDirectoryEntries,
} from "../config/directories.ts";
