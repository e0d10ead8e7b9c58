// Writes JSON schemas for kubeconform from the descriptions that come with the source of Kubernetes and of custom resources:
//   node deploy/helm/test/schemas.mjs FOLDER swagger.json resource-definition.yaml ...
// The schema of a kind is FOLDER/<kind>-<first word of its group>-<version>.json. Fields that a kind does not have are refused.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { parse } = createRequire(new URL('../../../test-e2e/package.json', import.meta.url))('yaml');
const [folder, swagger, ...resourceDefinitions] = process.argv.slice(2);

/** Text or a number, for types that swagger describes as text. */
const NUMBER_OR_TEXT = { type: ['string', 'number'] };

/** The schema without fields that are not described. */
function strict(schema) {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return NUMBER_OR_TEXT;
  const all = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]));
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] || schema.additionalProperties !== undefined;
  return typeof schema.properties === 'object' && !isOpen ? { ...all, additionalProperties: false } : all;
}

function write({ group, version, kind }, schema) {
  const words = [kind.toLowerCase(), group.split('.')[0], version].filter((word) => word !== '');
  fs.writeFileSync(path.join(folder, `${words.join('-')}.json`), JSON.stringify(schema));
}

fs.mkdirSync(folder, { recursive: true });
const { definitions } = JSON.parse(fs.readFileSync(swagger, 'utf8'));
const described = Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, strict(schema)]));
described['io.k8s.apimachinery.pkg.api.resource.Quantity'] = NUMBER_OR_TEXT;

/** The definitions that a definition refers to, with itself. */
function reachable(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of JSON.stringify(described[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    reachable(other, found);
  return found;
}

for (const [name, schema] of Object.entries(definitions)) {
  const names = schema['x-kubernetes-group-version-kind'] ?? [];
  if (names.length !== 1) continue;
  const used = Object.fromEntries([...reachable(name)].map((one) => [one, described[one]]));
  write(names[0], { $ref: `#/definitions/${name}`, definitions: used });
}

for (const file of resourceDefinitions) {
  const { spec } = parse(fs.readFileSync(file, 'utf8'));
  for (const { name: version, schema } of spec.versions) {
    const { properties, ...rest } = strict(schema.openAPIV3Schema);
    const metadata = { type: 'object' };
    write({ group: spec.group, version, kind: spec.names.kind }, { ...rest, properties: { ...properties, metadata } });
  }
}
