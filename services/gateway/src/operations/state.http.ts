import {
  type DeadLetterBody,
  type DeploymentStateBody,
  deadLetterNameSchema,
  deadLetterQuerySchema,
  dismissalSchema,
  type GaugeValue,
  type ServiceName,
  type StateOperations,
} from '@ecf/contracts';
import { validate } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import type { Recorded } from '../audit/acting.http.js';
import { json } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { firingAlarms } from './alarms.js';
import { present, type ServiceOperations } from './ports.js';
import { queuesOf } from './queues.js';
import { overviewOf, reportedService } from './reported-service.js';

/**
 * GET /admin/state: alarms that fire now, the work that waits, and the services.
 * GET /admin/dead-letters: events that services gave up.
 * POST /admin/dead-letters/replay `{service, group, event_id}`: the service handles it once more.
 * POST /admin/dead-letters/dismiss `{service, group, event_id, reason}`: deleted without handling.
 */
export function adminState({ state }: Pick<ServiceOperations, 'state'>, recorded: Recorded): express.Router {
  const routes = express.Router({ caseSensitive: true });
  const services = Object.entries(state) as [ServiceName, StateOperations][];

  /** The answers of the services, and the services that did not answer. */
  async function ofEach<T>(ask: (service: StateOperations) => Promise<T>) {
    const answers = await Promise.allSettled(services.map(([, service]) => ask(service)));
    return {
      answered: answers.flatMap((answer, at) =>
        answer.status === 'fulfilled' ? [{ service: services[at]?.[0] as ServiceName, answer: answer.value }] : [],
      ),
      unreachable: services.flatMap(([name], at) => (answers[at]?.status === 'rejected' ? [name] : [])),
    };
  }

  routes
    .route('/state')
    .get(async (_req: Request, res: Response) => {
      const { answered, unreachable } = await ofEach(async (service) => {
        const [{ gauges }, software] = await Promise.all([service.gauges({}), service.software({})]);
        return { gauges, software };
      });
      const gauges = distinct(answered.flatMap(({ answer }) => answer.gauges));
      const services = answered.map(({ service, answer }) => reportedService(service, answer.software, answer.gauges));
      const body: DeploymentStateBody = {
        unreachable,
        alarms: firingAlarms(gauges),
        queues: queuesOf(gauges),
        ...overviewOf(gauges),
        services,
      };
      res.json(body);
    })
    .all(otherMethods('GET'));
  routes
    .route('/dead-letters')
    .get(async (req: Request, res: Response) => {
      const query = validate(deadLetterQuerySchema, req.query, 'query');
      const { answered, unreachable } = await ofEach((service) => service.listDeadLetters(query));
      const rows: DeadLetterBody[] = answered.flatMap(({ service, answer }) =>
        answer.dead_letters.map((row) => ({ service, ...row })),
      );
      rows.sort((a, b) => Date.parse(a.failed_at) - Date.parse(b.failed_at));
      res.json({ unreachable, dead_letters: rows });
    })
    .all(otherMethods('GET'));
  routes
    .route('/dead-letters/replay')
    .post(json, async (req: Request, res: Response) => {
      const { service, ...one } = validate(deadLetterNameSchema, req.body, 'body');
      const owner = present(state[service] ?? null, service);
      const act = { action: 'dead_letter.replay', target: `/dead-letters/${service}/${one.event_id}`, details: one };
      const row = await recorded(req, res, act, () => owner.replayDeadLetter(one));
      res.status(202).json({ service, ...row });
    })
    .all(otherMethods('POST'));
  routes
    .route('/dead-letters/dismiss')
    .post(json, async (req: Request, res: Response) => {
      const { service, reason, ...one } = validate(dismissalSchema, req.body, 'body');
      const owner = present(state[service] ?? null, service);
      const target = `/dead-letters/${service}/${one.event_id}`;
      const act = { action: 'dead_letter.dismiss', target, details: { ...one, reason } };
      const row = await recorded(req, res, act, () => owner.dismissDeadLetter(one));
      res.json({ service, ...row });
    })
    .all(otherMethods('POST'));
  return routes;
}

/** Services of one process report the same gauges. */
function distinct(gauges: readonly GaugeValue[]): GaugeValue[] {
  return [...new Map(gauges.map((gauge) => [JSON.stringify([gauge.name, gauge.labels]), gauge])).values()];
}
