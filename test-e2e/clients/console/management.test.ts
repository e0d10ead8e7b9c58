import { describeConsole } from '../../support/console.js';
import { administration } from './administration.js';
import { settings } from './settings.js';

// A certification run, the last test of the settings, takes the documents of TesteCF out of the lists.
describeConsole(administration, settings);
