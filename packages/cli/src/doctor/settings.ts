import { readFileSync } from 'node:fs';
import { archiveSettings, openXmlStore } from '@ecf/archive';
import { busSettings } from '@ecf/bus';
import { ENVIRONMENTS } from '@ecf/domain';
import { authoritySettings, ConfigProblems, readMasterKeys, setting } from '@ecf/kit';
import { cacheSettings } from '@ecf/kit/cache';
import { z } from 'zod';
import { type Finding, fault, ok, reasonOf } from './finding.js';

/** The settings by which services reach other servers and files, as the services read them. */
const doctorSettings = z.object({
  ...archiveSettings,
  ...busSettings,
  ...cacheSettings,
  ...authoritySettings,
  DATABASE_URL: setting.optionalUrl({ description: 'The database', protocols: ['postgresql:', 'postgres:'] }),
  DEFAULT_ENV: setting.optionalOneOf(ENVIRONMENTS, { description: 'Environment of calls that name none' }),
  TRUSTED_ISSUERS_FILE: setting.optionalText({ description: 'Issuers of certificates' }),
  REVOKED_CERTIFICATES_FILE: setting.optionalText({ description: 'Revoked certificates' }),
  ANY_ISSUER: setting.flag({ description: 'Any issuer', default: false }),
  SANDBOX: setting.flag({ description: 'A sandbox', default: false }),
});
export type DoctorSettings = z.infer<typeof doctorSettings>;

/** The settings that are right, and what is wrong with the others. */
export function checkSettings(env: NodeJS.ProcessEnv): { settings: DoctorSettings; findings: Finding[] } {
  const problems = new ConfigProblems();
  const settings = problems.readOn(env, doctorSettings);
  problems.read(() => readMasterKeys(env));
  problems.read(() => openXmlStore(settings, { readOnly: true }));
  if (!settings.SANDBOX) requireForProduction(env, settings, problems);
  for (const variable of ['TRUSTED_ISSUERS_FILE', 'REVOKED_CERTIFICATES_FILE', 'KAFKA_SSL_CA_FILE'] as const) {
    const file = settings[variable];
    if (file !== undefined) requireReadable(variable, file, problems);
  }
  const found = problems.found();
  const findings = found.map(({ variable, message }) =>
    fault('settings', variable, message, 'See docs/configuration.md.'),
  );
  const kind = settings.SANDBOX ? 'sandbox' : 'production';
  return { settings, findings: found.length > 0 ? findings : [ok('settings', 'environment', `complete for ${kind}`)] };
}

/** The settings that have no default outside a sandbox. */
function requireForProduction(env: NodeJS.ProcessEnv, settings: DoctorSettings, problems: ConfigProblems): void {
  if (settings.DEFAULT_ENV === undefined)
    problems.add('DEFAULT_ENV', `is required outside the sandbox; allowed: ${ENVIRONMENTS.join(', ')}`);
  if (!env.MASTER_KEY && !env.SEALING_KEYS) problems.add('MASTER_KEY', 'is required, unless SEALING_KEYS is set');
  if (settings.TRUSTED_ISSUERS_FILE === undefined && !settings.ANY_ISSUER)
    problems.add('TRUSTED_ISSUERS_FILE', 'is required outside the sandbox, unless ANY_ISSUER=true');
}

function requireReadable(variable: string, file: string, problems: ConfigProblems): void {
  try {
    readFileSync(file);
  } catch (error) {
    problems.add(variable, `cannot be read: ${reasonOf(error)}`);
  }
}
