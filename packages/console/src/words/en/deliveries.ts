import type { deliveries as spanish } from '../es/deliveries.js';

export const deliveries: typeof spanish = {
  title: 'Deliveries to buyers',
  state: 'Delivery',
  failing: 'To attend to',
  all: 'To attend to, and pending',
  acknowledgement: 'Acknowledgement',
  show: 'Show the acknowledgement',
  empty: 'No delivery has this state in this period.',
  remedy: {
    not_required: 'This type of receipt is not delivered.',
    delivered: 'The buyer confirmed the receipt.',
    pending: 'It is delivered when the DGII accepts the receipt, and repeated until the buyer answers.',
    no_receiver: 'The directory of the DGII has no address for this buyer. Send the printed form.',
    refused:
      'The buyer answered that it was not received. The acknowledgement says why; clarify it with the buyer, and send the printed form.',
    unacknowledged:
      'The buyer answered without a valid acknowledgement. It is sent again; if this continues, tell the buyer.',
    failed: 'The deadline passed without an answer. Send the printed form, or have the delivery repeated.',
  },
  titleOf: 'Acknowledgement of {encf}',
  none: 'The buyer has not returned an acknowledgement.',
  answer: 'Answer',
  wasReceived: 'Received',
  wasNotReceived: 'Not received',
  reason: 'Reason',
  came: 'Arrived',
  receiver: 'Receiver',
  signer: 'Signer',
  invalid: 'It is not a valid acknowledgement: {reason}',
  xml: 'Download the XML of the acknowledgement',
  close: 'Close',
};
