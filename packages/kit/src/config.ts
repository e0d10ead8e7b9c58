import { z } from 'zod';

/** A configuration that does not allow a start: every variable at fault with what it may be. Values are not repeated. */
export class ConfigError extends Error {
  readonly problems: readonly { variable: string; message: string }[];
  constructor(problems: readonly { variable: string; message: string }[]) {
    super(
      `The configuration does not allow a start:\n${problems.map((p) => `  ${p.variable}: ${p.message}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The description of a setting on the generated page. */
export interface SettingMeta {
  readonly description: string;
  /** The values that are allowed, in words. */
  readonly allowed: string;
  /** The default in words; absent = required, or unset where the schema is optional. */
  readonly default?: string;
  readonly secret?: boolean;
  /** The setting is required unless this other one is given. */
  readonly unless?: string;
}

/** Attaches name-independent documentation to a setting; the error of {@link readConfig} and docs/configuration.md use it. */
export function describeSetting<S extends z.ZodType>(schema: S, meta: SettingMeta): S {
  return schema.meta({ setting: meta, description: meta.description });
}

/** The documentation of a setting, if it has one. */
export function settingMeta(schema: z.ZodType): SettingMeta | undefined {
  return (schema.meta() as { setting?: SettingMeta } | undefined)?.setting;
}

/**
 * Reads a configuration from environment variables. An empty variable counts as absent; variables that the schema lacks
 * are ignored. Throws {@link ConfigError} naming every variable at fault and what is allowed.
 */
export function readConfig<S extends z.ZodObject>(schema: S, env: Record<string, string | undefined>): z.infer<S> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '') given[name] = value.trim();
  }
  const result = schema.safeParse(given);
  const problems = missingAlternatives(schema, given);
  if (result.success && problems.size === 0) return result.data;
  for (const issue of result.error?.issues ?? []) {
    const variable = String(issue.path[0] ?? 'configuration');
    if (problems.has(variable)) continue;
    const field = schema.shape[variable] as z.ZodType | undefined;
    const allowed = field === undefined ? undefined : settingMeta(field)?.allowed;
    const spoken = issue.code === 'custom' && issue.message !== 'Invalid input';
    const reason = spoken ? issue.message : given[variable] === undefined ? 'is required' : 'is not allowed';
    problems.set(variable, allowed === undefined ? issue.message : `${reason}; allowed: ${allowed}`);
  }
  throw new ConfigError([...problems].map(([variable, message]) => ({ variable, message })));
}

/** The settings that are required unless another is given, where neither is. */
function missingAlternatives(schema: z.ZodObject, given: Record<string, string>): Map<string, string> {
  const problems = new Map<string, string>();
  for (const [name, field] of Object.entries(schema.shape)) {
    const { unless, allowed } = settingMeta(field as z.ZodType) ?? {};
    if (unless !== undefined && given[name] === undefined && given[unless] === undefined)
      problems.set(name, `is required, unless ${unless} is set; allowed: ${allowed}`);
  }
  return problems;
}

/** Collects the faults of several readers of one environment, so that a start reports all of them; each variable once. */
export class ConfigProblems {
  readonly #found = new Map<string, string>();

  has(variable: string): boolean {
    return this.#found.has(variable);
  }

  add(variable: string, message: string): void {
    if (!this.has(variable)) this.#found.set(variable, message);
  }

  /** The result of `read`; null if it throws a {@link ConfigError}, whose faults are collected. */
  read<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const { variable, message } of error.problems) this.add(variable, message);
      return null;
    }
  }

  /** The results of all readers. Throws {@link ConfigError} with the faults of all of them, and with those found before. */
  readAll<R extends Record<string, () => unknown>>(readers: R): { [K in keyof R]: ReturnType<R[K]> } {
    const read = Object.entries(readers).map(([name, reader]) => [name, this.read(reader)]);
    this.refuse();
    return Object.fromEntries(read);
  }

  /**
   * The settings of `schema`. If some are at fault, the others, so that the caller finds further faults before it calls
   * {@link refuse}: wrong ones have their default, missing ones are undefined.
   */
  readOn<S extends z.ZodObject>(env: Record<string, string | undefined>, schema: S): z.infer<S> {
    const whole = this.read(() => readConfig(schema, env));
    if (whole !== null) return whole;
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    const shape = Object.fromEntries(fields.map(([name, field]) => [name, this.has(name) ? field.optional() : field]));
    const sound = Object.fromEntries(Object.entries(env).filter(([name]) => !this.has(name)));
    return readConfig(z.object(shape), sound) as z.infer<S>;
  }

  /** The collected faults. */
  found(): { variable: string; message: string }[] {
    return [...this.#found].map(([variable, message]) => ({ variable, message }));
  }

  refuse(): void {
    if (this.#found.size > 0) throw new ConfigError(this.found());
  }
}

interface SettingOptions<T> {
  description: string;
  default?: T;
  allowed?: string;
  secret?: boolean;
  unless?: string;
}

function finish<T, S extends z.ZodType>(schema: S, options: SettingOptions<T>, allowed: string, shown?: string) {
  const meta: SettingMeta = {
    description: options.description,
    allowed: options.allowed ?? allowed,
    ...(options.default === undefined ? {} : { default: shown ?? String(options.default) }),
    ...(options.secret === undefined ? {} : { secret: options.secret }),
    ...(options.unless === undefined ? {} : { unless: options.unless }),
  };
  return describeSetting(schema, meta);
}

/** The setting, undefined when unset. */
function optional<T>(required: z.ZodType<T>): z.ZodType<T | undefined> {
  return describeSetting(required.optional(), settingMeta(required) as SettingMeta);
}

const required = {
  /** A whole number between `min` and `max`, both included. */
  integer(options: SettingOptions<number> & { min: number; max: number }) {
    const number = z.string().regex(/^\d+$/).transform(Number).pipe(z.number().int().min(options.min).max(options.max));
    const schema = options.default === undefined ? number : number.default(options.default);
    return finish(schema as z.ZodType<number>, options, `a whole number from ${options.min} to ${options.max}`);
  },
  /** Text of at least `min` characters. */
  text(options: SettingOptions<string> & { min?: number }) {
    const text = z.string().min(options.min ?? 1);
    const schema = options.default === undefined ? text : text.default(options.default);
    return finish(
      schema as z.ZodType<string>,
      options,
      (options.min ?? 1) > 1 ? `text of at least ${options.min} characters` : 'text',
    );
  },
  /** One of a list of words. */
  oneOf<const T extends string>(values: readonly [T, ...T[]], options: SettingOptions<T>) {
    const schema = options.default === undefined ? z.enum(values) : z.enum(values).default(options.default as never);
    return finish(schema as unknown as z.ZodType<T>, options, values.join(', '));
  },
  /** An address with one of the given protocols (`http:`, `https:` unless said otherwise). */
  url(options: SettingOptions<string> & { protocols?: readonly string[] }) {
    const protocols = options.protocols ?? ['http:', 'https:'];
    const address = z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol));
    const schema = options.default === undefined ? address : address.default(options.default);
    return finish(
      schema as z.ZodType<string>,
      options,
      `an address with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );
  },
};

type Optional<Builder extends 'integer' | 'text' | 'url'> = Omit<Parameters<(typeof required)[Builder]>[0], 'default'>;

/** Builders of settings. Each is required unless it has a default; `.optional` variants yield undefined when unset. */
export const setting = {
  ...required,
  optionalInteger: (options: Optional<'integer'>) => optional(required.integer(options)),
  optionalText: (options: Optional<'text'>) => optional(required.text(options)),
  optionalOneOf: <const T extends string>(values: readonly [T, ...T[]], options: Omit<SettingOptions<T>, 'default'>) =>
    optional(required.oneOf(values, options)),
  optionalUrl: (options: Optional<'url'>) => optional(required.url(options)),
  /** Keys of `bytes` bytes each, written in base64 and separated by commas; yields the bytes of each. They may be unset. */
  optionalBase64Keys(options: Omit<SettingOptions<never>, 'default'> & { bytes: number }) {
    const schema = base64List(options.bytes).optional();
    return finish(schema, { secret: true, ...options }, `${options.bytes} bytes in base64`);
  },
  /** true or false (1, 0, yes, no, on, off are understood). */
  flag(options: SettingOptions<boolean> & { default: boolean }) {
    const schema = z
      .string()
      .toLowerCase()
      .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off']))
      .transform((text) => ['true', '1', 'yes', 'on'].includes(text))
      .default(options.default);
    return finish(schema as z.ZodType<boolean>, options, 'true or false');
  },
  /** Words separated by commas; unset = none. */
  list(options: Omit<SettingOptions<string>, 'default'>) {
    const schema = z
      .string()
      .default('')
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      );
    return finish(
      schema as unknown as z.ZodType<string[]>,
      { ...options, default: 'none' },
      'a list separated by commas',
    );
  },
};

function base64List(bytes: number) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(base64(bytes)).min(1)) as unknown as z.ZodType<[Buffer, ...Buffer[]]>;
}

function base64(bytes: number) {
  return z
    .string()
    .refine((text) => /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === bytes)
    .transform((text) => Buffer.from(text, 'base64'));
}
