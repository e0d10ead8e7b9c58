// Writes what the Helm chart takes from the code: its versions, the settings and calls of each service, the schema of settings and
// the alarms. With --check, fails when one of them is stale.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { loadSettingMeta, SERVICE_NAMES, settingsOf, variablePrefix } from './settings.mjs';
import { writeOrCompare } from './write-or-compare.mjs';

const CHART = 'deploy/helm/ecf-gateway';
/** The chart sets these itself. Services get SEALING_KEYS in place of MASTER_KEY. */
const SET_BY_CHART = ['HOST', 'PORT', 'METRICS_PORT', 'DATA_DIR', 'MASTER_KEY'];
/** Secrets without which a service with this setting does not start, because of other settings that the chart requires. */
const NEEDED = ['SEALING_KEYS', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'];

const require = createRequire(path.join(ROOT, 'packages', 'kit', 'package.json'));
const { z } = await import(pathToFileURL(require.resolve('zod')).href);
const settingMeta = await loadSettingMeta();
const fields = new Map();
for (const name of SERVICE_NAMES) fields.set(name, Object.entries(await settingsOf(`services/${name}`)));

/** The settings with the addresses of services: EMISSION_URL and so on. */
const ADDRESSES = new Map(SERVICE_NAMES.map((name) => [`${variablePrefix(name)}_URL`, name]));

const isSecret = ([name, field]) => settingMeta(field).secret === true || NEEDED.includes(name);
const isOwn = ([name]) => !SET_BY_CHART.includes(name) && !ADDRESSES.has(name);
const isRequired = ([name, field]) => !field.safeParse(undefined).success || NEEDED.includes(name);

/** What the templates need about a service: its settings, its secrets (true if required), the services that it calls. */
function serviceOf(all) {
  const own = all.filter(isOwn);
  return {
    settings: own.filter((one) => !isSecret(one)).map(([name]) => name),
    secrets: Object.fromEntries(own.filter(isSecret).map((one) => [one[0], isRequired(one)])),
    calls: Object.fromEntries(all.flatMap(([name]) => (ADDRESSES.has(name) ? [[name, ADDRESSES.get(name)]] : []))),
  };
}

/** The JSON schema of a setting in the values. */
function schemaOf([, field]) {
  const { description, allowed } = settingMeta(field);
  const range = /^a whole number from (\d+) to (\d+)$/.exec(allowed);
  if (range !== null) return { description, type: 'integer', minimum: Number(range[1]), maximum: Number(range[2]) };
  if (allowed === 'true or false') return { description, type: 'boolean' };
  const { enum: words } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  return words === undefined ? { description, type: 'string' } : { description, enum: words };
}

/** Settings in the values, in alphabetical order. */
function ofValues(all) {
  const own = all.filter((one) => isOwn(one) && !isSecret(one));
  return own.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The settings of all services; one that differs between services has the description of the first. */
const ofAll = [...new Map([...fields.values()].flat().reverse())];

function formatted(value) {
  const biome = path.join(ROOT, 'node_modules', '.bin', 'biome');
  const input = JSON.stringify(value);
  return execFileSync(biome, ['format', '--stdin-file-path=values.json'], { cwd: ROOT, input, encoding: 'utf8' });
}

function valuesSchema(present) {
  const schema = JSON.parse(present);
  const properties = Object.fromEntries(ofValues(ofAll).map((one) => [one[0], schemaOf(one)]));
  schema.definitions.settings = { type: 'object', additionalProperties: false, properties };
  const names = ofAll.filter(isOwn).sort(([one], [other]) => (one < other ? -1 : 1));
  schema.definitions.settingName = { enum: names.map(([name]) => name) };
  schema.definitions.secretName = { enum: names.filter(isSecret).map(([name]) => name) };
  for (const [service, all] of fields)
    schema.definitions[`settings of ${service}`] = {
      allOf: [{ $ref: '#/definitions/settings' }],
      propertyNames: { enum: ofValues(all).map(([name]) => name) },
    };
  return formatted(schema);
}

const read = (file) => fs.readFileSync(path.join(ROOT, file), 'utf8');
const { version } = JSON.parse(read('package.json'));
const chart = read(`${CHART}/Chart.yaml`)
  .replace(/^version: .*$/m, `version: ${version}`)
  .replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
const services = Object.fromEntries([...fields].map(([name, all]) => [name, serviceOf(all)]));
writeOrCompare(
  new Map([
    [`${CHART}/Chart.yaml`, chart],
    [`${CHART}/values.schema.json`, valuesSchema(read(`${CHART}/values.schema.json`))],
    [`${CHART}/files/services.json`, formatted(services)],
    [`${CHART}/files/alerts.yaml`, read('deploy/observability/alerts.yaml')],
  ]),
);
