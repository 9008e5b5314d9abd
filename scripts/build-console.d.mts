// What the script that builds the console gives to tests.
export declare function buildConsole(): void
