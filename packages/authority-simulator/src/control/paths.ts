/** Where the control interface begins. */
export const CONTROL_PATH = '/_control/';
