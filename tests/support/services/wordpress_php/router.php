<?php
// Files are served as they are; everything else is WordPress's.
$path = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
if ( is_file( $_SERVER['DOCUMENT_ROOT'] . $path ) ) {
	return false;
}
$_SERVER['SCRIPT_NAME'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
