import type * as client from '@undolog/client';
import type { JsonText } from '@undolog/shared/domain/json-text';
import type { auditView, sealView, verifiedAudit } from '@undolog/shared/wire/audit';
import type { bulkAnswer, deadLetterView } from '@undolog/shared/wire/dead-letters';
import type { registeredEffect, reportedEffect } from '@undolog/shared/wire/effects';
import type { keyView } from '@undolog/shared/wire/keys';
import type { compensationOutcomes, overviewView } from '@undolog/shared/wire/overview';
import type { secretView } from '@undolog/shared/wire/secrets';
import type { erasedData, sessionPlan, sessionView } from '@undolog/shared/wire/sessions';
import type { entryView } from '@undolog/shared/wire/undo-entries';
import type { deliveryView, webhookView } from '@undolog/shared/wire/webhooks';
import { describe, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';

/** As it reaches a client: what is kept as JSON text is a value there. */
type Received<T> = T extends JsonText
  ? unknown
  : T extends readonly (infer I)[]
    ? Received<I>[]
    : T extends object
      ? { [K in keyof T]: Received<T[K]> }
      : T;
type Answered<S extends z.ZodType> = Received<z.output<S>>;

/** Checked when the tests are compiled: a schema that changed breaks the build until the client says the same. */
describe('the client’s own types', () => {
  test('are those that the API answers with', () => {
    expectTypeOf<client.Session>().toExtend<Answered<typeof sessionView>>();
    expectTypeOf<Answered<typeof sessionView>>().toExtend<client.Session>();
    expectTypeOf<client.UndoEntry>().toExtend<Answered<typeof entryView>>();
    expectTypeOf<Answered<typeof entryView>>().toExtend<client.UndoEntry>();
    expectTypeOf<client.DeadLetter>().toExtend<Answered<typeof deadLetterView>>();
    expectTypeOf<Answered<typeof deadLetterView>>().toExtend<client.DeadLetter>();
    expectTypeOf<client.AuditEntry>().toExtend<Answered<typeof auditView>>();
    expectTypeOf<Answered<typeof auditView>>().toExtend<client.AuditEntry>();
    expectTypeOf<Answered<typeof sealView>>().toEqualTypeOf<client.AuditSeal>();
    expectTypeOf<Answered<typeof verifiedAudit>>().toEqualTypeOf<client.VerifiedAudit>();
    expectTypeOf<Answered<typeof reportedEffect>>().toEqualTypeOf<client.ReportedEffect>();
    expectTypeOf<Answered<typeof keyView>>().toEqualTypeOf<client.ApiKey>();
    expectTypeOf<client.Overview>().toExtend<Answered<typeof overviewView>>();
    expectTypeOf<Answered<typeof overviewView>>().toExtend<client.Overview>();
    expectTypeOf<Answered<typeof secretView>>().toEqualTypeOf<client.Secret>();
    expectTypeOf<Answered<typeof webhookView>>().toEqualTypeOf<client.Webhook>();
    expectTypeOf<Answered<typeof deliveryView>>().toEqualTypeOf<client.AlertDelivery>();
    expectTypeOf<Answered<typeof erasedData>>().toEqualTypeOf<client.ErasedData>();
    expectTypeOf<Answered<typeof compensationOutcomes>>().toEqualTypeOf<client.CompensationOutcomes>();
    expectTypeOf<Answered<typeof sessionPlan>>().toEqualTypeOf<client.Plan>();
  });

  test('take what the API may leave out', () => {
    expectTypeOf<Required<client.RegisteredEffect>>().toExtend<Required<Answered<typeof registeredEffect>>>();
    expectTypeOf<Required<client.BulkAnswer>>().toExtend<Required<Answered<typeof bulkAnswer>>>();
  });
});
