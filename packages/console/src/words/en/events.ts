import type { events as spanish } from '../es/events.js';

export const events: typeof spanish = {
  title: 'Events',
  about: 'What happens to the documents of all taxpayers of your key. The page shows the last 500.',
  show: 'Show',
  pause: 'Pause',
  resume: 'Continue',
  state: {
    live: 'Live',
    paused: 'Paused',
    unreachable: 'No connection. Continues when the connection returns.',
  },
  empty: 'There are no events yet. New events appear here without a reload.',
  emptyOfKind: 'There are no such events. The next ones appear here without a reload.',
  arrived: '{count, plural, one {One new event} other {# new events}}: {title} {encf}',
  kind: {
    all: 'All events',
    attention: 'Events that need attention',
    invoice: 'Issued documents',
    delivery: 'Deliveries',
    received: 'Received documents',
    approval: 'Commercial approvals',
    cancellation: 'Cancellations',
    batch: 'Batches',
    contingency: 'Contingency',
    settings: 'Ranges and certificates',
  },
  type: {
    invoice: {
      accepted: { title: 'Document accepted', meaning: 'The DGII accepted it. You do not need to do anything.' },
      conditional: {
        title: 'Document accepted with remarks',
        meaning: 'The DGII accepted it and it is valid. Read the remarks to correct the next ones.',
      },
      rejected: {
        title: 'Document rejected',
        meaning: 'The DGII did not accept it and it is not valid. Correct it and send it again.',
      },
      held: { title: 'Note held', meaning: 'It is sent when the DGII decides about the document that it modifies.' },
      withdrawn: { title: 'Document withdrawn', meaning: 'It will not be sent to the DGII and is not valid.' },
      overdue: {
        title: 'Document without an answer',
        meaning: 'The DGII has not decided in 72 hours. The gateway continues to query.',
      },
    },
    delivery: {
      delivered: { title: 'Delivered to the buyer', meaning: "The buyer's system acknowledged it." },
      refused: {
        title: 'Not received by the buyer',
        meaning: 'Their system refused it. Look at the reason and tell the buyer.',
      },
      failed: {
        title: 'Delivery failed',
        meaning: 'It could not be delivered. Send the XML to the buyer another way, or try again.',
      },
    },
    received: {
      accepted: { title: 'Document received', meaning: 'A provider sent it and got an acknowledgement.' },
      refused: {
        title: 'Document not received',
        meaning: 'A document with faults arrived and was returned to its issuer.',
      },
      confirmed: { title: 'Received document confirmed', meaning: 'The DGII has the same document.' },
      disputed: {
        title: 'Received document not confirmed',
        meaning: 'The DGII rejected it or does not have it. Do not book or pay it; ask the provider.',
      },
    },
    approval: {
      received: { title: 'Answer of the buyer', meaning: 'The buyer approved or rejected your document.' },
      sent: { title: 'Decision sent', meaning: 'A received document was approved or rejected.' },
      refused: {
        title: 'Decision not accepted',
        meaning: 'The DGII or the provider did not accept it. Open the document to see what is valid.',
      },
    },
    cancellation: {
      accepted: { title: 'Cancellation accepted', meaning: 'The DGII cancelled the numbers.' },
      partial: {
        title: 'Cancellation partly accepted',
        meaning: 'The DGII cancelled some of the numbers. Look at the others.',
      },
      rejected: {
        title: 'Cancellation rejected',
        meaning: 'The DGII did not cancel the numbers. Look at the messages.',
      },
    },
    batch: { done: { title: 'Batch done', meaning: 'Each of its lines has a result.' } },
    contingency: {
      started: {
        title: 'Contingency started',
        meaning: 'The DGII does not answer. Documents are signed, and sent when it returns.',
      },
      ended: { title: 'Contingency ended', meaning: 'The DGII answers again. What waited is being sent.' },
      late: {
        title: 'Contingency past its deadline',
        meaning: 'The DGII has not decided about the document at the end of the 72 hours.',
      },
    },
    range: {
      low: { title: 'Few numbers left', meaning: 'Request more numbers from the DGII and register them.' },
      expiring: { title: 'Range about to expire', meaning: 'It expires in less than 30 days. Request another one.' },
    },
    certificate: {
      expiring: {
        title: 'Certificate about to expire',
        meaning: 'It expires in less than 30 days. Without a new one you cannot sign documents after that.',
      },
    },
  },
  detail: {
    numbers: '{count, plural, one {# number} other {# numbers}}',
    batch: '{accepted} of {total} accepted',
    remaining: '{count} left',
    expires: 'expires on {day}',
    deadline: 'deadline {moment}',
  },
};
