import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessible, area } from '../../support/console.js';
import { until } from '../../support/until.js';

export const events = area('the events page of the console', ({ deployment, signedIn, accepted }) => {
  const rows = (page: Page, encf: string) => page.getByRole('listitem').filter({ hasText: encf });
  const inFeed = (encf: string) =>
    until(
      () => deployment.demo.call('GET', '/events?newest=true&limit=20'),
      ({ body }) => JSON.stringify(body).includes(`"encf":"${encf}"`),
    );

  it('shows events as they happen, also those of a pause and of a time without a connection.', async () => {
    const before = await accepted();
    const page = await signedIn('/console/events');
    await rows(page, before).getByText('Comprobante aceptado').waitFor();
    await page.getByText('En vivo').waitFor();
    await accessible(page);

    const live = await accepted();
    await rows(page, live).getByText('Entregado al comprador').waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /nuevos?: .+ E31/ })
      .waitFor({ state: 'attached' });

    await page.getByRole('button', { name: 'Pausar' }).press('Enter');
    await page.getByText('En pausa').waitFor();
    const paused = await accepted();
    await inFeed(paused);
    expect(await rows(page, paused).count()).toBe(0);
    await accessible(page);
    await page.getByRole('button', { name: 'Continuar' }).press('Enter');
    await rows(page, paused).getByText('Comprobante aceptado').waitFor();

    await page.context().setOffline(true);
    await page.getByText('Sin conexión. Continúa').waitFor();
    await accessible(page);
    const offline = await accepted();
    await page.context().setOffline(false);
    await rows(page, offline).getByText('Comprobante aceptado').waitFor();
    await page.getByText('En vivo').waitFor();
    expect(await rows(page, live).getByText('Comprobante aceptado').count()).toBe(1);

    await page.getByRole('link', { name: offline }).first().click();
    await page.getByRole('heading', { name: offline }).waitFor();
  });

  it('shows the events of one kind, which the address names.', async () => {
    const encf = await accepted();
    await inFeed(encf);
    const page = await signedIn('/console/events');
    await rows(page, encf).getByText('Comprobante aceptado').waitFor();
    await page.getByLabel('Mostrar').selectOption({ label: 'Entregas' });
    await page.waitForURL(/types=delivery\.delivered/);
    await rows(page, encf).getByText('Entregado al comprador').waitFor();
    expect(await page.getByText('Comprobante aceptado').count()).toBe(0);
    await page.reload();
    await rows(page, encf).getByText('Entregado al comprador').waitFor();
    await page.getByLabel('Mostrar').selectOption({ label: 'Lotes' });
    await page.getByText('No hay eventos de esta clase').waitFor();
    await accessible(page);
  });

  it('keeps the last 500 events, and begins anew when the last one that it read is not kept any more.', async () => {
    const encf = await accepted();
    await inFeed(encf);
    const { body } = await deployment.demo.call('GET', '/events?newest=true&limit=1');
    const [event] = body.events;
    const answers = [
      ...[300, 300].map((count, answer) => ({
        status: 200,
        json: {
          events: Array.from({ length: count }, (_, index) => ({
            ...{ ...event, id: `${answer}${index + 1_000}-00000000`, type: 'invoice.rejected' },
            subject: { issuer_rnc: event.subject.issuer_rnc, encf: `E43${answer}${String(index).padStart(9, '0')}` },
            data: { buyer_name: 'א'.repeat(200), total_amount: '1.00', messages: [{ codigo: 1, valor: '<b>no</b>' }] },
          })),
          next: body.next,
        },
      })),
      { status: 410, json: { code: 'event_expired', message: 'expired' } },
    ];
    // The browser must not be asking when its calls begin to be answered here, so the events page is opened afterwards.
    const page = await signedIn('/console/settings');
    let held: (() => void) | null = null;
    await page.route(/\/events\?.*after=/, async (route) => {
      if (answers.length === 1 && held === null) await new Promise<void>((resolve) => (held = resolve));
      const answer = answers.shift();
      return answer ? route.fulfill(answer) : route.continue();
    });
    await page.goto(`${deployment.running.demo.base_url}/console/events`);
    const items = page.locator('.events > li');
    await rows(page, 'E431000000299').waitFor();
    expect(await items.count()).toBe(500);
    expect(await rows(page, 'E430000000100').count()).toBe(1);
    expect(await rows(page, 'E430000000099').count()).toBe(0);

    await until(
      async () => held,
      (release) => release !== null,
    );
    (held as (() => void) | null)?.();
    await rows(page, encf).first().waitFor();
    expect(await rows(page, 'E431000000299').count()).toBe(0);
  });
});
