export {
  adaptScopedAccountAccessor,
  createScopedChannelConfigAdapter as createHybridChannelConfigAdapter,
  createScopedChannelConfigAdapter,
  createScopedDmSecurityResolver,
  createTopLevelChannelConfigAdapter,
  formatTrimmedAllowFromEntries,
  mapAllowFromEntries,
  resolveOptionalConfigString,
} from "../config/config-adapters.ts";
