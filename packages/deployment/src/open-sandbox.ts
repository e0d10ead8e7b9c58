import { formatDocumentDate, toCalendarDate, toIsoDominican } from '@ecf/domain';
import type { DataFolder, Demo, DemoProcess } from './data-folder.js';
import { submitFirstInvoice, writeExamples } from './first-invoice.js';
import { DEMO_BUYER, DEMO_ISSUER, prepareSandbox } from './sandbox.js';

/** The facts of the deployment that the sandbox needs. */
export interface OpenSandbox {
  baseUrl: string;
  /** Where `/admin` is; the base address, unless it has its own listener. */
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
 * Prepares the demo account, writes `demo.json`, submits the first invoice at the first start, and prints the next steps.
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
  const first = created ? await submitFirstInvoice(baseUrl, apiKey, formatDocumentDate(toCalendarDate(now))) : [];
  for (const line of [...first, ...writeExamples(baseUrl, apiKey, folder, now)]) say(line);
  return demo;
}
