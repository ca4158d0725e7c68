export {
  createChannelDirectoryAdapter,
  createRuntimeDirectoryLiveAdapter,
  listDirectoryEntriesFromSources,
  listResolvedDirectoryUserEntriesFromAllowFrom,
  toDirectoryEntries,
} from "../newer/directories.ts";
