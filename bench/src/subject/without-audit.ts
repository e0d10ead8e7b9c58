// Loaded before a subject (--import): a submission then leaves nothing for the audit log. For the comparison with one that does.
import { register } from 'node:module';

const WITHOUT = {
  '/taxpayer-replica/dist/certificate-uses.postgres.js':
    'export const createCertificateUses = () => async () => undefined;',
  '/gateway/dist/outbound/audit/key-uses.postgres.js':
    'export const createKeyUses = () => ({ used() {}, flush: async () => undefined });',
};

const hook = `const without = ${JSON.stringify(Object.entries(WITHOUT))};
export async function load(url, context, next) {
  const [, source] = without.find(([name]) => url.endsWith(name)) ?? [];
  return source === undefined ? next(url, context) : { format: 'module', shortCircuit: true, source };
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
