import { z } from 'zod';
import { MAX_EVENT_ID_CHARS, MAX_EVENT_SOURCE_CHARS, MAX_EVENTS } from '../domain/limits.js';
import { anyJson } from './json-member.js';

/** What may be reported as an event, each as its own route takes it. */
export const EVENT_TYPES = [
  'undolog.session.started',
  'undolog.session.completed',
  'undolog.session.failed',
  'undolog.effect.registered',
  'undolog.effect.committed',
  'undolog.effect.failed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A CloudEvent without its data. Attributes that are not named here are extensions, and are left alone. */
export const eventAttributes = z.looseObject({
  specversion: z.literal('1.0'),
  id: z.string().min(1).max(MAX_EVENT_ID_CHARS),
  source: z
    .string()
    .min(1)
    .max(MAX_EVENT_SOURCE_CHARS)
    .regex(/^[\x21-\x7e]+$/, 'must be a URI reference')
    .meta({ description: 'A URI reference. With the id it is the identity of the event.' }),
  type: z.enum(EVENT_TYPES),
  datacontenttype: z
    .string()
    .regex(/^application\/json *(?:;.*)?$/i, 'must be application/json')
    .optional(),
});

const cloudEvent = eventAttributes
  .extend({
    data: anyJson(
      'The body of the matching route, with `session_id` or, for reports on effects, `effect_id` beside it; a report ' +
        'that names its `session_id` too is put in order sooner.',
    ),
  })
  .meta({ id: 'CloudEvent' });

/** For the documentation; the events of a batch are read one by one, so that a bad one stands alone. */
export const eventBatch = z.array(cloudEvent).min(1).max(MAX_EVENTS).meta({ id: 'CloudEventBatch' });

export const eventResults = z
  .object({
    results: z.array(
      z.object({
        id: z.string().nullable().meta({ description: 'Of the event; null where it had none.' }),
        status: z.int().meta({ description: 'What its own route would have answered.' }),
        body: anyJson('What its own route would have answered.'),
        replayed: z.literal(true).optional().meta({ description: 'This event was settled before; its answer, again.' }),
      }),
    ),
  })
  .meta({ id: 'EventResults' });
