// Runs the sketch once.
extern "C" int demo() {
    setup();
    loop();
    return 0;
}
