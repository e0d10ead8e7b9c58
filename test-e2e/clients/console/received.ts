import fs from 'node:fs';
import { formatSignatureDateTime } from '@ecf/domain';
import { parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { testCertificate } from '../../support/client.js';
import { accessible, area } from '../../support/console.js';
import { encf as encfOf } from '../../support/documents/documents.js';
import { PROVIDER, providedXml } from '../../support/documents/provided-documents.js';
import { until } from '../../support/until.js';

export const received = area('received documents in the console', ({ deployment, signedIn, accepted }) => {
  const demo = () => deployment.running.demo;
  const row = (page: Page, encf: string) => page.getByRole('row').filter({ hasText: encf });
  const results = (page: Page) => page.getByRole('region', { name: /Decisiones|Decisions/ });

  /** The inbox of the demo buyer. */
  async function inbox(key?: string): Promise<Page> {
    const page = await signedIn('/console/received', undefined, key);
    await page.getByLabel('Contribuyente').selectOption(demo().buyer_rnc);
    return page;
  }

  const decisions = async (encf: string) =>
    (await deployment.demo.call('GET', `/acecf?receiver_rnc=${demo().buyer_rnc}&encf=${encf}`)).body;

  const approve = (encf: string) =>
    deployment.demo.call('POST', '/acecf', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        issuer_rnc: demo().issuer_rnc,
        receiver_rnc: demo().buyer_rnc,
        encf,
        approval_status: 1,
        authority_environment: 'TesteCF',
      }),
    });

  /** A document of a provider outside this deployment, received by the demo buyer. */
  async function provided(number: number, name: string): Promise<{ encf: string; xml: string }> {
    const encf = encfOf('31', number);
    const xml = await providedXml('ecf-31', ({ ECF }) => {
      ECF.Encabezado.IdDoc.eNCF = encf;
      Object.assign(ECF.Encabezado.Emisor, { RNCEmisor: PROVIDER, RazonSocialEmisor: name });
      ECF.Encabezado.Comprador.RNCComprador = demo().buyer_rnc;
      ECF.FechaHoraFirma = formatSignatureDateTime(new Date(Date.now() - 60_000));
    });
    expect(await push(xml)).toContain('<Estado>0</Estado>');
    return { encf, xml };
  }

  const push = async (xml: string) =>
    (
      await deployment.demo.call('POST', '/fe/recepcion/api/ecf', {
        body: xml,
        headers: { 'content-type': 'text/xml' },
      })
    ).text;

  it('decides with the keyboard alone, one document and several in one act, and says which one failed.', async () => {
    const [first, second, third, fourth] = [await accepted(), await accepted(), await accepted(), await accepted()];
    const page = await inbox();
    await row(page, first).getByRole('button', { name: 'Aprobar' }).press('Enter');
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancelar' }).press('Enter');
    await row(page, first).getByRole('button', { name: 'Aprobar' }).press('Enter');
    await page.getByRole('button', { name: `Aprobar ${first}` }).press('Enter');
    await row(page, first).getByText('Aprobado').waitFor();
    await row(page, second).getByRole('button', { name: 'Rechazar' }).press('Enter');
    await accessible(page);
    await page.getByRole('button', { name: 'Bienes o servicios no recibidos' }).press('Enter');
    await row(page, second).getByText('Rechazado').waitFor();
    expect(await decisions(second)).toMatchObject([{ approval_status: 2, rejection_code: 1 }]);
    // Another person approves the fourth while the page shows it as undecided.
    expect((await approve(fourth)).status).toBe(201);
    for (const encf of [third, fourth]) await page.getByLabel(`Seleccionar ${encf}`).press('Space');
    await page.getByText('2 seleccionados').waitFor();
    await page.getByRole('button', { name: 'Aprobar los seleccionados' }).press('Enter');
    await page.getByRole('button', { name: 'Aprobar 2 comprobantes' }).press('Enter');
    await results(page).getByText('1 registradas, 1 sin efecto.').waitFor();
    await results(page).getByRole('listitem').filter({ hasText: fourth }).getByText('Ya tenía una decisión').waitFor();
    await row(page, third).getByText('Aprobado').waitFor();
    await row(page, fourth).getByText('Aprobado').waitFor();
    await accessible(page);
    await page.getByLabel('Aprobación').selectOption('rejected');
    await page.getByRole('button', { name: 'Buscar' }).press('Enter');
    await page.waitForURL(/status=rejected/);
    await row(page, first).waitFor({ state: 'detached' });
    await row(page, second).waitFor();
  });

  it('does not approve a document that another has replaced since it was shown, and shows the other one.', async () => {
    const encf = await accepted();
    let isReplaced = false;
    const page = await signedIn('/console/');
    await page.route('**/fe/recepcion/api/invoices/all*', async (route) => {
      // A list that is still being fetched when the test ends would fail it.
      if (isReplaced) return route.continue();
      const response = await route.fetch();
      const body = await response.json();
      for (const invoice of body.invoices ?? [])
        if (invoice.encf === encf) Object.assign(invoice, { id: 9_000_001, total_amount: 100 });
      await route.fulfill({ response, json: body });
    });
    await page.getByLabel('Contribuyente').selectOption(demo().buyer_rnc);
    await page.getByRole('link', { name: 'Recibidos', exact: true }).click();
    await row(page, encf).getByText('RD$ 100.00').waitFor();
    await row(page, encf).getByRole('button', { name: 'Aprobar' }).click();
    await page.getByRole('dialog').getByText('RD$ 100.00').waitFor();
    isReplaced = true;
    await page.getByRole('button', { name: `Aprobar ${encf}` }).click();
    await results(page).getByText('El comprobante cambió desde que se mostró').waitFor();
    expect(await results(page).getByRole('button', { name: 'Intentar de nuevo' }).count()).toBe(0);
    await accessible(page);
    await row(page, encf).getByText('RD$ 11,430.00').waitFor();
    expect(await decisions(encf)).toEqual([]);
    await row(page, encf).getByRole('button', { name: 'Aprobar' }).click();
    await page.getByRole('button', { name: `Aprobar ${encf}` }).click();
    await row(page, encf).getByText('Aprobado').waitFor();
  });

  it('shows a document with its signer, confirmation and files, and the present state after an act and “back”.', async () => {
    const encf = await accepted();
    await until(
      () =>
        deployment.demo.call('GET', `/fe/recepcion/api/invoices/${encf}`, {
          headers: { 'buyer-rnc': demo().buyer_rnc },
        }),
      ({ body }) => body.authority_status === 'confirmed',
    );
    const page = await inbox();
    await row(page, encf).getByRole('link', { name: encf }).click();
    await page.waitForURL(`**/console/received/${demo().buyer_rnc}/${demo().issuer_rnc}/${encf}`);
    await page.getByText('La DGII aceptó un comprobante con este código').waitFor();
    await page.getByText('No hay lista de emisores de confianza').waitFor();
    await page
      .getByRole('term')
      .filter({ hasText: /^Total$/ })
      .waitFor();
    await accessible(page);
    for (const [button, name, content] of [
      ['Descargar XML', `${demo().issuer_rnc}${encf}.xml`, '<ECF'],
      ['XML del acuse', `arecf-${encf}.xml`, '<Estado>0</Estado>'],
    ] as const) {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(name);
      expect(fs.readFileSync(await file.path(), 'utf8')).toContain(content);
    }
    const [printed] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith(`/${encf}/pdf`)),
      page.getByRole('button', { name: 'Abrir la representación impresa' }).click(),
    ]);
    expect(printed.headers()['content-type']).toBe('application/pdf');
    // Until the authority has answered, the decision is listed as not delivered.
    const release = await deployment.demo.fault({
      operation: 'aprobacioncomercial',
      kind: 'http',
      status: 400,
      body: '<html>ERROR</html>',
    });
    await page.getByRole('button', { name: 'Rechazar' }).click();
    await page.getByLabel('Otro motivo').fill('No corresponde a nuestra orden de compra.');
    await page.getByRole('button', { name: 'Rechazar por este motivo' }).click();
    await page.getByRole('list').getByText('Rechazo comercial (ACECF)').waitFor();
    await page.getByText('No corresponde a nuestra orden de compra.').waitFor();
    await page.getByRole('button', { name: 'XML de la decisión' }).waitFor();
    await accessible(page);
    await page.goBack();
    await row(page, encf).getByText('Rechazado').waitFor();
    await page.getByText('Decisiones sin entregar (1)').click();
    await page.getByText('La DGII no ha respondido; se envía de nuevo').waitFor();
    await accessible(page);
    await release();
    // A key that only receives sees the same without the decisions.
    const [{ id }] = (await deployment.demo.admin('GET', '/accounts')).body;
    const rights = { name: 'almacén', environments: ['TesteCF'], scopes: ['receive'] };
    const { key } = (await deployment.demo.admin('POST', `/accounts/${id}/api-keys`, rights)).body;
    const other = await accepted();
    const reader = await inbox(key);
    await row(reader, other).getByText('Por decidir').waitFor();
    expect(await reader.getByRole('button', { name: /Aprobar|Rechazar/ }).count()).toBe(0);
  });

  it('shows disputes side by side and hostile names as text, in English on a narrow, dark screen.', async () => {
    const name = '<script>alert(1)</script> شركة النخيل ‮ Palma';
    const { encf, xml } = await provided(8_000_001, name);
    const { p12, password } = testCertificate('199999991');
    const forged = xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>1.00');
    const tree = readXml(parseXml(Buffer.from(forged, 'utf8')));
    const other = (await signXml(writeXml(tree), openCertificate(p12, password))).xml;
    expect(await push(other)).toContain('<Estado>1</Estado>');
    const page = await signedIn('/console/', {
      locale: 'en-US',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await page.route('**/fe/recepcion/api/invoices/all*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      for (const invoice of body.invoices ?? [])
        if (invoice.encf !== encf) invoice.provider_name = 'W'.repeat(1_000_000);
      await route.fulfill({ response, json: body });
    });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByLabel('Taxpayer').selectOption(demo().buyer_rnc);
    await page.getByRole('link', { name: 'Received', exact: true }).click();
    await row(page, encf).getByText('Disputed').waitFor();
    await row(page, encf).getByText('<script>alert(1)</script>').waitFor();
    const fits = () => page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
    expect(await fits()).toBe(true);
    await accessible(page);
    await row(page, encf).getByRole('link', { name: encf }).click();
    const compared = page.getByRole('table', { name: 'Disputed receipts' });
    await compared.getByRole('cell', { name: '1.00', exact: true }).waitFor();
    await compared.getByText('This signer has not yet signed').nth(1).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      compared.getByRole('button', { name: 'The other one' }).click(),
    ]);
    expect(fs.readFileSync(await file.path(), 'utf8')).toBe(other);
    expect(await fits()).toBe(true);
    await accessible(page);
    // The authority does not have the document, so it refuses the approval, and the page says why.
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('The DGII has not confirmed this receipt.').waitFor();
    await page.getByRole('button', { name: `Approve ${encf}` }).click();
    await results(page).getByText('The decision had no effect.').waitFor();
    await results(page).getByText('Rejected by the DGII').waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await accessible(page);
  });
});
