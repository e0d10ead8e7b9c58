import { expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { accessible, area } from '../../support/console.js';
import { Numbering } from '../../support/documents/documents.js';

const REUSABLE = {
  codigo: '2',
  estado: 'Rechazado',
  mensajes: [
    { codigo: '1381', valor: 'El campo RNCComprador del área Comprador de la sección Encabezado es obligatorio.' },
  ],
  secuenciaUtilizada: false,
};

/** Moves the focus with the tabulator key until it is there. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let steps = 0; steps < 80; steps++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await target.page().keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${target}`);
}

/** Types a text into the field of a label, with the keyboard alone. */
async function type(page: Page, label: string, text: string, line = 0): Promise<void> {
  await tabTo(page.getByLabel(label, { exact: true }).nth(line));
  await page.keyboard.type(text);
}

export const newInvoice = area('new documents in the console', ({ deployment, signedIn, signIn }) => {
  const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
  const issuer = () => deployment.running.demo.issuer_rnc;
  const get = async (path: string) =>
    (await deployment.demo.call('GET', path, { headers: { 'rnc-issuing': issuer() } })).body;
  const send = async (page: Page) => {
    await page.getByRole('button', { name: 'Revisar' }).click();
    await page.getByRole('button', { name: 'Enviar', exact: true }).click();
  };

  it('makes an invoice with the keyboard alone, under the next number of a range, and names faults at their fields.', async () => {
    const { account } = await get('/account');
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000005001', to: 'E310000005100', expires: '2028-12-31' };
    const put = await deployment.demo.admin('PUT', `/accounts/${account.id}/taxpayers/${issuer()}/ranges`, [range]);
    expect(put.status).toBe(200);
    const page = await signedIn('/console/invoices');
    await page.getByRole('link', { name: 'Nuevo comprobante' }).press('Enter');
    await page.getByText('Próximo: E310000005001').waitFor();
    await accessible(page);
    await type(page, 'RNC o cédula', '18888888');
    await type(page, 'Descripción', 'Silla plegable');
    await type(page, 'Precio unitario', '1,000');
    await page.keyboard.press('Enter');
    await page.getByText('no tiene el formato esperado. 9 u 11 dígitos').waitFor();
    await accessible(page);
    // The first field with a fault has the focus.
    await page.keyboard.press('End');
    await page.keyboard.type('5');
    await tabTo(page.getByRole('button', { name: 'Añadir línea' }));
    await page.keyboard.press('Enter');
    await type(page, 'Descripción', 'Libro', 1);
    await type(page, 'Precio unitario', '550.00', 1);
    await type(page, 'ITBIS', 'Ex', 1);
    await page.getByText('RD$ 1,730.00').waitFor();
    await tabTo(page.getByRole('button', { name: 'Revisar' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Listo para enviar a la DGII' }).waitFor();
    await accessible(page);
    await tabTo(page.getByRole('button', { name: 'Enviar' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'E310000005001' }).waitFor();
    expect(await get('/invoices/E310000005001')).toMatchObject({
      status: 'Aceptado',
      total_amount: '1730.00',
      buyer_name: 'Taller Caoba Imaginario, SRL',
    });
  });

  it('sends a consumer invoice once although its answer was lost and the session ended, and warns before it is left.', async () => {
    const page = await signedIn('/console/invoices/new');
    await page.getByLabel('Tipo de comprobante').selectOption('32');
    await page.getByLabel('e-NCF').fill('E320000005001');
    await page.getByLabel('Descripción').fill('Planta eléctrica');
    await page.getByLabel('Precio unitario').fill('250,000');
    await page.getByRole('button', { name: 'Revisar' }).click();
    await page.getByText('RD$ 250,000.00 o más requiere el RNC').waitFor();
    await page.getByLabel('Precio unitario').fill('5000');
    await page.getByRole('link', { name: 'Emitidos' }).click();
    await page.getByRole('dialog', { name: 'Hay cambios sin enviar' }).waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Quedarse' }).click();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Revisar' }).click();
    await page.getByText('La sesión terminó').waitFor();
    await signIn(page);
    expect(await page.getByLabel('Descripción').inputValue()).toBe('Planta eléctrica');
    const keys: (string | undefined)[] = [];
    await page.route('**/fe_Submit', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      const response = await route.fetch();
      // The gateway has the document, and the first answer does not arrive.
      await (keys.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await send(page);
    await page.getByText('No llegó respuesta').waitFor();
    await page.getByRole('button', { name: 'Enviar', exact: true }).click();
    await page.getByRole('heading', { name: 'E320000005001' }).waitFor();
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(await deployment.demo.ledger('E320000005001', issuer())).toHaveLength(1);
  });

  it('issues one invoice although it was changed after a send whose answer was lost.', async () => {
    const next = async () => {
      const { taxpayers } = await get('/account');
      const { ranges } = taxpayers.find(({ rnc }: { rnc: string }) => rnc === issuer());
      return ranges.find(({ next }: { next: string | null }) => next?.startsWith('E31000000')).next;
    };
    const first = await next();
    const page = await signedIn('/console/invoices/new');
    await page.getByText(`Próximo: ${first}`).waitFor();
    await page.getByLabel('RNC o cédula').fill('188888885');
    await page.getByLabel('Descripción').fill('Mesa plegable');
    await page.getByLabel('Precio unitario').fill('1000');
    let lose = () => {};
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    let sends = 0;
    await page.route('**/fe_Submit', async (route) => {
      sends += 1;
      const response = await route.fetch();
      if (sends > 1) return route.fulfill({ response });
      await lost;
      await route.abort();
    });
    await send(page);
    await page.getByRole('button', { name: 'Enviando…' }).waitFor();
    const dialog = page.getByRole('dialog', { name: 'Listo para enviar a la DGII' });
    await page.keyboard.press('Escape');
    expect(await dialog.getByRole('button', { name: 'Seguir editando' }).isDisabled()).toBe(true);
    lose();
    await dialog.getByText('No llegó respuesta').waitFor();
    await dialog.getByRole('button', { name: 'Seguir editando' }).click();
    await page.getByLabel('Precio unitario').fill('900');
    await send(page);
    await page.getByText('La primera versión, con otro contenido, ya se emitió.').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await accessible(page);
    expect(await get(`/invoices/${first}`)).toMatchObject({ status: 'Aceptado', total_amount: '1180.00' });
    expect(Number((await next()).slice(1))).toBe(Number(first.slice(1)) + 1);
    await page.getByRole('link', { name: 'Ver los comprobantes emitidos' }).click();
    await page.getByRole('button', { name: 'Salir sin enviar' }).click();
    await page.getByRole('link', { name: first }).waitFor();
  });

  /** Submits an invoice under a number of the range of the first test. */
  async function submitted(sequence: number): Promise<string> {
    const { invoice, encf } = numbers.next('ecf-31', ({ Encabezado }) => {
      Encabezado.IdDoc.eNCF = `E31000000${sequence}`;
    });
    expect((await deployment.demo.submit(invoice)).status).toBe(200);
    return encf;
  }

  it('corrects a rejected document in the editor, with completion and faults at their lines, and sends it with the same number.', async () => {
    const release = await deployment.demo.fault({
      operation: 'recepcion',
      kind: 'verdict',
      verdict: REUSABLE,
      times: 1,
    });
    const encf = await submitted(5051);
    await release();
    const page = await signedIn(`/console/invoices/${issuer()}/${encf}`);
    await page.getByText('Añada el RNC o la cédula del comprador.').waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'Corregir y repetir' }).click();
    await page.getByText('envíelo con el mismo número').waitFor();
    const editor = page.getByRole('textbox', { name: 'Comprobante en JSON' });
    await editor.getByText('"ContactoComprador"').click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.type('"Correo');
    await page.getByRole('listbox').waitFor();
    await accessible(page);
    await page.keyboard.press('Escape');
    await page.getByText('El texto no es JSON válido').first().waitFor();
    await page.keyboard.press('Shift+Home');
    await page.keyboard.type('"NombreComprador": "Ana",');
    await page.getByText('Este elemento no existe').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: /^Línea \d+$/ }).click();
    await page.keyboard.press('Shift+End');
    await page.keyboard.type('"ContactoComprador": "Ana Ejemplo",');
    await page.getByText('Este elemento no existe').waitFor({ state: 'detached' });
    await send(page);
    await page.getByText('Decisión de la DGII').nth(1).waitFor();
    expect(await get(`/invoices/${encf}`)).toMatchObject({ status: 'Aceptado' });
    expect((await get(`/invoices/${encf}/document`)).ECF.Encabezado.Comprador.ContactoComprador).toBe('Ana Ejemplo');
  });

  it('makes a credit note for an invoice, prefilled, in English on a narrow, dark screen.', async () => {
    const encf = await submitted(5052);
    const page = await signedIn(`/console/invoices/${issuer()}/${encf}`, {
      locale: 'en-US',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole('link', { name: 'Make a credit note' }).click();
    await page.getByRole('definition').filter({ hasText: 'RD$ 11,430.00' }).waitFor();
    await page.getByLabel('Reason code').selectOption('3');
    await page.getByRole('button', { name: 'Remove line 1' }).click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('eNCF is missing').waitFor();
    await page.getByLabel('e-NCF', { exact: true }).fill('E340000005001');
    await accessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('dialog').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('link', { name: encf }).click();
    await page.getByRole('link', { name: 'E340000005001' }).waitFor();
    await accessible(page);
    expect(await get('/invoices/E340000005001')).toMatchObject({
      status: 'Aceptado',
      modified_encf: encf,
      total_amount: '2580.00',
    });
  });
});
