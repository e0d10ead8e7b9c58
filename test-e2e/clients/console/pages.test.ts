import { describeConsole } from '../../support/console.js';
import { document } from './document.js';
import { events } from './events.js';
import { frame } from './frame.js';
import { overview } from './overview.js';
import { sessions } from './sessions.js';

// The overview counts all documents, so it is first.
describeConsole(overview, sessions, frame, document, events);
