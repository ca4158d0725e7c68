import type { Clock } from "../../base/clock.ts";

/** Called during the work with byte counts. `total` may still grow. */
export type Progress = (done: number, total: number, label: string) => void;

/** One file of a backup. */
export interface ManifestFile {
  /** Below the backup's root, with `/`: `state/…` or `config/…`. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly mode: number;
}

/** A workspace outside of the state folder. */
export interface ManifestWorkspace {
  /** The folder in the backup. */
  readonly name: string;
  /** Its original path. */
  readonly path: string;
}

/** The last file of a backup: a backup without it is incomplete. */
export interface Manifest {
  readonly format: "openclaw-backup";
  /**
   * 2 since archives are sealed and the manifest contains its own digest; 3 with workspaces from outside of the state folder. Older ones are still
   * read.
   */
  readonly version: 1 | 2 | 3;
  /** SHA-256 of the manifest's text with zeros in its place. Since version 2. */
  readonly digest?: string;
  /** Version of the program that made it. */
  readonly madeBy: string;
  /** ISO time. */
  readonly createdAt: string;
  /** The folder that was backed up, for information. */
  readonly stateDir: string;
  /** Path of the configuration when it was outside of the state folder: its files are below `config/`. */
  readonly configFile?: string;
  readonly workspaceIncluded: boolean;
  /** Workspaces from outside of the state folder. Since version 3. */
  readonly workspaces?: readonly ManifestWorkspace[];
  /** Names in the state folder that were left out, with the reason. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  readonly files: readonly ManifestFile[];
}

export interface BackupOptions {
  readonly stateDir: string;
  /** Folder in which the backup is created. */
  readonly into: string;
  readonly form: "tar.gz" | "folder";
  /** The configuration and its includes, absolute paths, the main file first. Those inside the state folder are included anyway. */
  readonly configFiles: readonly string[];
  readonly includeWorkspace?: boolean;
  /** The agents' workspaces, wherever they are. */
  readonly workspaces?: readonly string[];
  /** Encrypts an archive with it; folders cannot be encrypted. */
  readonly passphrase?: string | undefined;
  /** Version of the program. */
  readonly madeBy: string;
  readonly clock: Clock;
  readonly progress?: Progress;
}

export interface BackupReport {
  readonly path: string;
  readonly files: number;
  /** Bytes of content, before compression. */
  readonly bytes: number;
  readonly left: Manifest["left"];
}

export interface VerifyOptions {
  /** A `.tar.gz`, an encrypted one or a folder made by `createBackup`. */
  readonly backup: string;
  readonly passphrase?: string | undefined;
  /** Folder for the unpacked database while it is checked; default the system's. */
  readonly scratch?: string;
  readonly progress?: Progress;
}

/** Why the content of a backup could not be checked. */
export type Unopened = "passphrase_missing" | "passphrase_wrong" | "not_with_passphrase" | "passphrase_cost" | "unreadable" | "too_new" | "not_compressed";

export interface VerifyReport {
  readonly ok: boolean;
  /** Why it is not ok: it could not be read, or its content is not what was backed up. */
  readonly reason?: Unopened | "damaged";
  /** Problems, for people. Empty when all is well. */
  readonly problems: readonly string[];
  /** Unusual properties of a sound backup, for people. */
  readonly notes: readonly string[];
  readonly manifest?: Manifest;
}

export interface RestoreOptions {
  readonly backup: string;
  readonly passphrase?: string | undefined;
  readonly stateDir: string;
  /** True while a gateway uses the state folder. Checked at the start and again before the swap. */
  readonly isHeld: () => boolean | Promise<boolean>;
  readonly clock: Clock;
  /** Most bytes to unpack; default what is free on the disk. */
  readonly maxBytes?: number;
  readonly progress?: Progress;
}

export interface RestoreReport {
  readonly stateDir: string;
  /** Where the previous state was moved. */
  readonly kept?: string;
  readonly files: number;
  /** Folders of the old state that were not in the backup and were copied into the new one. */
  readonly carried: readonly string[];
  /** Where configuration files from outside of the state folder are now; they are not put back automatically. */
  readonly configFolder?: string;
  /** Original path of the main one. */
  readonly configFile?: string;
  /** Workspaces from outside of the state folder: where their files are now, and where they were. */
  readonly workspaces: readonly { readonly folder: string; readonly path: string }[];
}
