/** What a plugin talks to besides its data: a terminal, a log, a person at a prompt. */

export interface RuntimeEnv {
  log(...args: unknown[]): void;
  error(...args: unknown[]): void;
  exit(code: number): void;
}

export interface PluginLogger {
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** As {@link PluginLogger}, for one account of a channel. */
export interface ChannelLogSink {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  debug?(message: string): void;
}

export interface RuntimeLogger {
  debug?(message: string, meta?: Record<string, unknown>): void;
  info(message: string, meta?: Record<string, unknown>): void;
  warn(message: string, meta?: Record<string, unknown>): void;
  error(message: string, meta?: Record<string, unknown>): void;
}

export interface WizardSelectOption<T = string> {
  value: T;
  label: string;
  hint?: string | undefined;
}

export interface WizardSelectParams<T = string> {
  message: string;
  options: WizardSelectOption<T>[];
  initialValue?: T | undefined;
}

export interface WizardMultiSelectParams<T = string> {
  message: string;
  options: WizardSelectOption<T>[];
  initialValues?: T[] | undefined;
  searchable?: boolean | undefined;
}

export interface WizardTextParams {
  message: string;
  initialValue?: string | undefined;
  placeholder?: string | undefined;
  /** A secret: what is typed is masked. */
  sensitive?: boolean | undefined;
  /** What is wrong with the value, or nothing. */
  validate?: ((value: string) => string | undefined) | undefined;
}

export interface WizardProgress {
  update(message: string): void;
  stop(message?: string): void;
}

/** Questions to a person. Leaving one (Ctrl-C) rejects. */
export interface WizardPrompter {
  intro(title: string): Promise<void>;
  outro(message: string): Promise<void>;
  note(message: string, title?: string): Promise<void>;
  select<T>(params: WizardSelectParams<T>): Promise<T>;
  multiselect<T>(params: WizardMultiSelectParams<T>): Promise<T[]>;
  text(params: WizardTextParams): Promise<string>;
  confirm(params: { message: string; initialValue?: boolean | undefined }): Promise<boolean>;
  progress(label: string): WizardProgress;
}
