import { formatDocumentDate, toCalendarDate, toIsoDominican } from '@ecf/domain';
import type { DataFolder, Demo, DemoProcess } from './data-folder.js';
import { exampleCommand, submitFirstInvoice } from './first-invoice.js';
import { DEMO_BUYER, DEMO_ISSUER, prepareSandbox } from './sandbox.js';

/** The facts of the deployment that the sandbox needs. */
export interface OpenSandbox {
  baseUrl: string;
  /** Where `/admin` is; the base address, unless it has a listener of its own. */
  adminUrl: string;
  adminToken: string;
  authorityUrl: string;
  metricsUrl: string;
  folder: DataFolder;
  now: Date;
  processes?: DemoProcess[];
  say(text: string): void;
}

/**
 * Prepares the demo account, writes `demo.json`, and at the first start submits the first invoice and prints the next step.
 * Resolves with the content of `demo.json`.
 */
export async function openSandbox(options: OpenSandbox): Promise<Demo> {
  const { baseUrl, adminToken, authorityUrl, folder, now, say } = options;
  const { apiKey, created } = await prepareSandbox({
    gatewayUrl: baseUrl,
    adminUrl: options.adminUrl,
    adminToken,
    simulatorUrl: authorityUrl,
    folder,
    now,
  });
  const demo: Demo = {
    base_url: baseUrl,
    api_key: apiKey,
    admin_token: adminToken,
    ...(options.adminUrl === baseUrl ? {} : { admin_url: options.adminUrl }),
    issuer_rnc: DEMO_ISSUER.rnc,
    buyer_rnc: DEMO_BUYER.rnc,
    authority_url: authorityUrl,
    metrics_url: options.metricsUrl,
    started_at: toIsoDominican(now),
    ...(options.processes === undefined ? {} : { processes: options.processes }),
  };
  folder.writePrivate('demo.json', demo);
  if (!created) return demo;
  for (const line of await submitFirstInvoice(baseUrl, apiKey, folder, formatDocumentDate(toCalendarDate(now))))
    say(line);
  say(`your turn       ${exampleCommand(baseUrl, apiKey, folder)}`);
  return demo;
}
